import type { Credentials } from '../../src/auth/credentials.ts'
import { Metrics } from '../../src/http/about/metrics.ts'
import type { Route } from '../../src/http/route.ts'
import { createHttpServer, type HttpServer, type HttpServerSettings } from '../../src/http/server/server.ts'
import { systemClock, type Clock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { openSql, type Sql } from '../../src/postgres/sql.ts'
import { client, type Client } from './client.ts'

/** An edge of its own, with no more of a server behind it than the routes of the test. */
export interface TestEdge extends AsyncDisposable, Client {
  edge: HttpServer
  url: string
  port: number
  /** What was logged: one parsed entry for each line. */
  logged: Record<string, unknown>[]
}

interface TestEdgeOptions {
  settings?: Partial<HttpServerSettings>
  /** Without one, PostgreSQL is away. */
  sql?: Sql
  /** Routes that need none need none here. */
  credentials?: Credentials
  clock?: Clock
}

const defaults: HttpServerSettings = {
  version: '32.1.0',
  productVersion: '0.9.0',
  demoUrl: null,
  admin: null,
  accessLogging: 'off',
  metricsToken: null,
  publicUrl: null,
  tls: null,
  corsOrigins: 'any',
  isProxied: false,
  bodyLimitBytes: 4 * 1024 * 1024,
  bodyDeadlineMs: 30_000,
  ratePerMinute: null,
  databaseConnections: 10,
  quietMs: 0,
}

/** Serves `routes` on a free port of this machine. */
export async function startEdge(
  routes: Route[],
  { settings = {}, sql = nowhere(), credentials, clock = systemClock }: TestEdgeOptions = {},
): Promise<TestEdge> {
  const logged: Record<string, unknown>[] = []
  const edge = await createHttpServer({
    routes,
    adminRoutes: [],
    adminSessions: { find: () => Promise.resolve(null) },
    credentials: credentials!,
    epoch: { id: 'epoch' },
    sql,
    settings: { ...defaults, ...settings },
    metrics: new Metrics(),
    clock,
    log: createLog('debug', line => logged.push(JSON.parse(line) as Record<string, unknown>)),
  })
  const url = await edge.listen(0, '127.0.0.1')
  return {
    ...client(url),
    edge,
    url,
    port: Number(new URL(url).port),
    logged,
    async [Symbol.asyncDispose]() {
      await edge.close(1000)
    },
  }
}

/** Connects on first use, and then fails. */
function nowhere(): Sql {
  return openSql({ url: 'postgres://nobody@127.0.0.1:1/nothing', connections: 1, statementTimeoutMs: 1000 })
}
