import { LoginThrottle } from '../auth/login-throttle.ts'
import { describeSettings } from '../config/config.ts'
import { toHttpServerSettings } from '../config/part-options.ts'
import { OutboundQuota } from '../http/request/outbound-quota.ts'
import { serve } from '../http/route.ts'
import { createHttpServer, type HttpServer } from '../http/server/server.ts'
import type { Monitor } from '../monitoring/monitor.ts'
import { path as realtimePath } from '../realtime/protocols/native/native.ts'
import { path as hubPath } from '../realtime/protocols/signalr/hub.ts'
import type { Realtime } from '../realtime/realtime.ts'
import type { SessionDirectory } from '../realtime/sessions/session-directory.ts'
import { KeptSearches } from '../resources/content/lists/kept-search.ts'
import { KnownPositions } from '../resources/content/lists/known-positions.ts'
import { resources } from '../resources/index.ts'
import type { Services } from '../resources/route.ts'
import type { Webhooks } from './after-commits.ts'
import type { Agents } from './agents.ts'
import type { Base } from './base.ts'
import type { Engine } from './engine.ts'
import type { Files } from './files.ts'
import type { SharedState } from './shared-state.ts'
import type { Storage } from './storage.ts'

/** Pages that are looked at for one user, as the API says, and for all together: each holds a connection. A guess. */
const errandsPerMinute = 60
const errandsAtOnce = 200

interface Served extends Base, Storage, SharedState, Engine, Files {
  realtime: Realtime
  webhooks: Webhooks
  agents: Agents
  monitor: Monitor
  liveSessions: SessionDirectory
}

/** The HTTP server with all routes, and realtime attached to it. It listens to nothing yet. */
export async function createServer(parts: Served): Promise<HttpServer> {
  const { config, realtime, liveSessions, webhooks, agents, now, clock, teardown } = parts
  const services: Services = {
    sql: parts.sql,
    replica: parts.replica,
    apps: parts.apps,
    globalCommands: parts.globalCommands,
    userCache: parts.userCache,
    keptSearches: new KeptSearches(),
    knownPositions: new KnownPositions(),
    credentials: parts.credentials,
    adminSessions: parts.adminSessions,
    loginThrottle: new LoginThrottle(now),
    outboundQuota: new OutboundQuota({ perMinute: errandsPerMinute, atOnce: errandsAtOnce, now: clock.now }),
    typing: parts.typing,
    presence: parts.presence,
    bytes: parts.bytes,
    renditions: parts.renditions,
    previews: parts.previews,
    outside: parts.outside,
    agents: agents.control,
    toolServers: agents.tools,
    pings: webhooks.pings,
    liveSessions,
    monitor: parts.monitor,
    settings: describeSettings(config),
    vault: parts.vault,
    upsertsJoin: config.upsertsJoin,
    now,
  }
  const server = await createHttpServer({
    ...parts,
    routes: serve(
      resources.flatMap(({ routes }) => routes),
      services,
    ),
    adminRoutes: serve(
      resources.flatMap(({ adminRoutes = [] }) => adminRoutes),
      services,
    ),
    webSockets: [realtimePath, hubPath],
    settings: toHttpServerSettings(config),
  })
  teardown.add('HTTP server', deadlineMs => server.close(deadlineMs))
  realtime.attach(server)
  teardown.add('sessions', () => realtime.close())
  const stopAnswering = liveSessions.start()
  teardown.add('lists of sessions', async () => stopAnswering())
  return server
}
