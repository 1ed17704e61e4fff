import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { createLog } from '../../src/lib/log.ts'
import { EmbeddedPostgres } from '../../src/storage/embedded.ts'
import { openSql, type Sql } from '../../src/storage/sql.ts'
import { eventually } from '../support/eventually.ts'
import { createDirectory, killBackends, killPostgres, type TemporaryDirectory } from '../support/process.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'
import { FaultyNode } from './node.ts'
import type { Rewrite } from './proxy.ts'

export interface ClusterOptions {
  nodes: number
  rewrite: Rewrite
  onDeath: (node: number, words: string) => void
}

/** Whoever supervises PostgreSQL gives up after several ends that follow each other faster than this. */
const postgresStableMs = 10_500

/** For three nodes with their connections, and for what looks into the database from outside. */
const connections = 100

/**
 * Nodes as processes, one PostgreSQL that is durable, and one Redis: everything real, and everything can be broken. Made
 * by `start`, ended by `close`, which leaves no process and no file.
 */
export class Cluster {
  readonly nodes: readonly FaultyNode[]
  readonly #dir: TemporaryDirectory
  readonly #postgres: EmbeddedPostgres
  readonly #redis: RedisServer
  /** Past all proxies. */
  readonly sql: Sql

  private constructor(
    dir: TemporaryDirectory,
    postgres: EmbeddedPostgres,
    redis: RedisServer,
    nodes: readonly FaultyNode[],
  ) {
    this.#dir = dir
    this.#postgres = postgres
    this.#redis = redis
    this.nodes = nodes
    this.sql = openSql({ url: postgres.url, connections: 2, statementTimeoutMs: 30_000 })
  }

  static async start({ nodes: count, rewrite, onDeath }: ClusterOptions): Promise<Cluster> {
    const ending: (() => PromiseLike<unknown>)[] = []
    try {
      const dir = createDirectory()
      ending.unshift(() => dir[Symbol.asyncDispose]())
      const redis = await startRedis()
      ending.unshift(() => redis[Symbol.asyncDispose]())
      const postgres = await EmbeddedPostgres.start({
        dir: dir.path,
        connections,
        // That it ended by itself is what was asked for.
        log: createLog('error', () => {}),
        onLost: error => onDeath(0, `PostgreSQL: ${error.message}`),
      })
      ending.unshift(() => postgres.stop())
      const shared = { dir, postgres: findSocket(postgres.url), redis: { port: Number(new URL(redis.url).port) } }
      const start = async (number: number) => {
        const node = await FaultyNode.start({ ...shared, number, rewrite, onDeath })
        ending.unshift(() => node.close())
        return node
      }
      // The first one makes the tables.
      const first = await start(1)
      const others = Array.from({ length: count - 1 }, (_, i) => start(i + 2))
      // Where one fails, the others are to be ended, and therefore there.
      await Promise.allSettled(others)
      const nodes = [first, ...(await Promise.all(others))]
      return new Cluster(dir, postgres, redis, nodes)
    } catch (error) {
      for (const end of ending) await end()
      throw error
    }
  }

  /** Every connection's backend is told to end, as an administrator does it. */
  async terminateBackends(): Promise<void> {
    // It may be recovering from something else.
    await eventually(
      () => this.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      { timeoutMs: 30_000 },
    )
  }

  /** PostgreSQL's parent process ends at once, leaving recovery to the next start, which follows by itself. */
  crashPostgres(): void {
    killPostgres(this.#dir, 'SIGQUIT')
  }

  /** Resolves when PostgreSQL answers, and has done so for so long that its next end counts as a new one. */
  async postgresIsBack(): Promise<void> {
    await eventually(() => this.sql`select 1`, { timeoutMs: 30_000, everyMs: 100 })
    await delay(postgresStableMs)
  }

  /** Signals the process of each connection; SIGKILL makes PostgreSQL end all others and recover. */
  signalBackends(signal: NodeJS.Signals): void {
    killBackends(this.#dir, signal)
  }

  async killRedis(): Promise<void> {
    await this.#redis.kill()
  }

  async startRedis(): Promise<void> {
    await this.#redis.start()
  }

  signalRedis(signal: NodeJS.Signals): void {
    this.#redis.signal(signal)
  }

  async flushRedis(): Promise<void> {
    const redis = new Redis(this.#redis.url)
    await redis.flushall()
    redis.disconnect()
  }

  async close(): Promise<void> {
    await this.sql.end({ timeout: 1 })
    await Promise.all(this.nodes.map(node => node.close()))
    await this.#redis[Symbol.asyncDispose]()
    await this.#postgres.stop()
    await this.#dir[Symbol.asyncDispose]()
  }
}

/** The file of PostgreSQL's socket, or its port where the folder's name is too long for one. */
function findSocket(url: string): { path: string } | { port: number } {
  const { hostname, port } = new URL(url)
  const host = decodeURIComponent(hostname)
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { port: Number(port) }
}
