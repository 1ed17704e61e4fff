import { Redis } from 'ioredis'
import { openSql, type Sql } from '../../src/postgres/sql.ts'
import { eventually } from '../support/eventually.ts'
import { findPort } from '../support/port.ts'
import { PostgresServer, toSharedUrl } from '../support/postgres-server.ts'
import { createDirectory, type TemporaryDirectory } from '../support/process.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'
import { FaultyNode } from './node.ts'
import type { Rewrite } from './proxy.ts'

export interface ClusterOptions {
  nodes: number
  rewrite: Rewrite
  onDeath: (node: number, words: string) => void
}

/**
 * Nodes as processes, a PostgreSQL that is durable, and one Redis: everything real, and everything can be broken. Made by
 * `start`, ended by `close`, which leaves no process and no file.
 */
export class Cluster {
  readonly nodes: readonly FaultyNode[]
  readonly #dir: TemporaryDirectory
  /** Where the primary listens, and where a standby that may take its place. */
  readonly #ports: readonly number[]
  readonly #redis: RedisServer
  #primary: PostgresServer
  /** Past all proxies. */
  readonly sql: Sql

  private constructor(
    dir: TemporaryDirectory,
    ports: readonly number[],
    primary: PostgresServer,
    redis: RedisServer,
    nodes: readonly FaultyNode[],
  ) {
    this.#dir = dir
    this.#ports = ports
    this.#primary = primary
    this.#redis = redis
    this.nodes = nodes
    this.sql = openSql({ url: toSharedUrl(primary.url, ports), connections: 2, statementTimeoutMs: 30_000 })
  }

  static async start({ nodes: count, rewrite, onDeath }: ClusterOptions): Promise<Cluster> {
    const ending: (() => PromiseLike<unknown>)[] = []
    try {
      const dir = createDirectory()
      ending.unshift(() => dir[Symbol.asyncDispose]())
      const redis = await startRedis()
      ending.unshift(() => redis[Symbol.asyncDispose]())
      const ports = [await findPort(), await findPort()]
      const postgres = await PostgresServer.start({
        dir: dir.path,
        port: ports[0]!,
        onDeath: words => onDeath(0, `PostgreSQL ${words}`),
      })
      ending.unshift(() => postgres.stop())
      const shared = {
        dir,
        url: postgres.url,
        postgres: ports.map(port => ({ port })),
        redis: { port: Number(new URL(redis.url).port) },
      }
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
      return new Cluster(dir, ports, postgres, redis, nodes)
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

  /** PostgreSQL's parent process ends at once, leaving recovery to the next start. */
  async crashPostgres(): Promise<void> {
    await this.#primary.crash()
  }

  async startPostgres(): Promise<void> {
    await this.#primary.start()
  }

  /** A standby; one that is synchronous has everything that is acknowledged from now on. */
  async startStandby({ isSynchronous = true } = {}): Promise<PostgresServer> {
    const primary = this.#primary
    const standby = await primary.makeStandby(this.#ports.find(port => port !== primary.port))
    if (isSynchronous) await primary.waitForStandby()
    return standby
  }

  /** The standby has everything that was acknowledged up to now, and gets nothing more. */
  async isolate(standby: PostgresServer): Promise<void> {
    await this.#primary.awaitStandby(standby)
    await standby.isolate()
  }

  /** The standby takes the place of the primary, which has crashed and never comes back as it was. */
  async promote(standby: PostgresServer): Promise<void> {
    const failed = this.#primary
    await standby.promote()
    this.#primary = standby
    await failed.stop()
  }

  /** Signals the process of each connection; SIGKILL makes PostgreSQL end all others and recover. */
  signalBackends(signal: NodeJS.Signals): void {
    this.#primary.signalBackends(signal)
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
    await this.#primary.stop()
    await this.#dir[Symbol.asyncDispose]()
  }
}
