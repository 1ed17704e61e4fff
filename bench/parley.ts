import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import type { Origin } from './load/socket.ts'
import { NodeProcess } from './node-process.ts'
import type { RedisProcess } from './redis.ts'
import { callApi, type Processes, type Server } from './server.ts'

/** Of 16 MB each: what PostgreSQL writes between two checkpoints, of which the second makes them usable again. */
const logFiles = 64

/** How many nodes are to run, and whether they talk over Redis. */
export interface Formation {
  nodes: number
  redis: RedisProcess | null
  /** Settings beside those of a new installation. */
  settings?: Record<string, string>
}

const alone: Formation = { nodes: 1, redis: null }

/**
 * The real server in processes of its own, on an embedded database in a folder that is thrown away: fsync on, and every
 * setting as a new installation has it, but no limit of requests. `stop` ends all and removes the folder.
 */
export class Parley implements Server {
  /** An API key. */
  readonly key = 'wys_a-key-for-measurements-that-is-long-enough'
  readonly #dir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  readonly #nodeArgs: string[]
  /** The first has the database. */
  #nodes: NodeProcess[] = []
  #redis: RedisProcess | null = null
  #sql: postgres.Sql | null = null

  /** `nodeArgs`: more arguments for Node.js. */
  constructor(nodeArgs: string[] = []) {
    this.#nodeArgs = nodeArgs
    // mkdtemp makes folders for their owner alone; PostgreSQL runs as another user where we are root.
    chmodSync(this.#dir, 0o755)
  }

  get origins(): Origin[] {
    return this.#nodes.map(({ port }) => ({ host: '127.0.0.1', port, isSecure: false }))
  }

  get processes(): Processes {
    const servers = this.#nodes.map(({ pid }) => pid)
    if (this.#redis !== null) servers.push(this.#redis.pid)
    const postmaster = Number(readFileSync(join(this.databaseDir, 'postmaster.pid'), 'utf8').split('\n')[0])
    return { servers, postmaster }
  }

  /** Where the database's Unix socket is. */
  get databaseDir(): string {
    return join(this.#dir, 'postgres')
  }

  async databaseBytes(): Promise<number> {
    const [row] = await this.sql<{ bytes: string }[]>`select pg_database_size(current_database()) as bytes`
    return Number(row!.bytes)
  }

  /** For rows that would take too long through the API. The server must be restarted before it reads them. */
  get sql(): postgres.Sql {
    const path = join(this.databaseDir, '.s.PGSQL.5432')
    this.#sql ??= postgres({ path, user: 'parley', database: 'postgres', max: 1, onnotice: () => {} })
    return this.#sql
  }

  async start({ nodes, redis, settings }: Formation = alone): Promise<void> {
    this.#redis = redis
    const environment = { API_KEY: this.key, ...(redis !== null && { REDIS_URL: redis.url }), ...settings }
    const start = (more: Record<string, string>) =>
      NodeProcess.start({ dir: this.#dir, nodeArgs: this.#nodeArgs, environment: { ...environment, ...more } })
    this.#nodes = [await start({})]
    const DATABASE_URL = `postgres://parley@${encodeURIComponent(this.databaseDir)}:5432/postgres`
    while (this.#nodes.length < nodes) this.#nodes.push(await start({ DATABASE_URL }))
  }

  call(method: string, path: string, body?: unknown, credential = this.key): Promise<string> {
    return callApi(`http://127.0.0.1:${this.#nodes[0]!.port}`, { method, path, body, credential })
  }

  /** Fresh processes on the same data: nothing in memory, nothing compiled. */
  async restart(formation: Formation = alone): Promise<void> {
    await this.#end()
    await this.start(formation)
  }

  /**
   * Gives the database what one has that is in use: files for its log, to be written to once more. Until it has them,
   * PostgreSQL fills each with zeros while everybody waits, which is what filling disks costs, not storing messages: with
   * 256 connections 60 ms every 1.3 s. The server must be restarted before they are there.
   */
  async fillLog(): Promise<void> {
    for (let file = 0; file < logFiles; file++) {
      await this.sql`select pg_logical_emit_message(false, 'parley', '')`
      await this.sql`select pg_switch_wal()`
    }
  }

  /** Does something while the server does nothing, not even what it puts off until nobody needs it: a baseline. */
  async holdStill<Result>(run: () => Promise<Result>): Promise<Result> {
    this.signal('SIGSTOP')
    try {
      return await run()
    } finally {
      this.signal('SIGCONT')
    }
  }

  async stop(): Promise<void> {
    await this.#end()
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }

  /** See `collect-on-signal.ts` for what the server makes of one. */
  signal(name: NodeJS.Signals): void {
    for (const node of this.#nodes) node.signal(name)
  }

  async #end(): Promise<void> {
    await this.#sql?.end({ timeout: 1 })
    this.#sql = null
    const nodes = this.#nodes
    this.#nodes = []
    // The database goes with the first.
    for (const node of nodes.reverse()) await node.stop()
  }
}
