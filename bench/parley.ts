import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { apart } from './apart.ts'

/** What `npm start` runs, wherever it is run from. */
const root = join(import.meta.dirname, '..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }
const startArgs = scripts.start.replace('exec node ', '').split(' ')
const main = join(root, startArgs.pop()!)

/** Of 16 MB each: what PostgreSQL writes between two checkpoints, of which the second makes them usable again. */
const logFiles = 64

const key = 'wys_a-key-for-measurements-that-is-long-enough'

/**
 * The real server in a process of its own, on an embedded database in a folder that is thrown away: fsync on, and every
 * setting as a new installation has it. `stop` ends both and removes the folder.
 */
export class Parley {
  readonly #dir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  readonly #nodeArgs: string[]
  #child: ChildProcess | null = null
  #port = 0
  #sql: postgres.Sql | null = null

  /** `nodeArgs`: more arguments for Node.js. */
  constructor(nodeArgs: string[] = []) {
    this.#nodeArgs = nodeArgs
    // mkdtemp makes folders for their owner alone; PostgreSQL runs as another user where we are root.
    chmodSync(this.#dir, 0o755)
  }

  get port(): number {
    return this.#port
  }

  get pid(): number {
    return this.#child!.pid!
  }

  get postmaster(): number {
    return Number(readFileSync(join(this.databaseDir, 'postmaster.pid'), 'utf8').split('\n')[0])
  }

  /** Where the database's Unix socket is. */
  get databaseDir(): string {
    return join(this.#dir, 'postgres')
  }

  /** For rows that would take too long through the API. The server must be restarted before it reads them. */
  get sql(): postgres.Sql {
    const path = join(this.databaseDir, '.s.PGSQL.5432')
    this.#sql ??= postgres({ path, user: 'parley', database: 'postgres', max: 1, onnotice: () => {} })
    return this.#sql
  }

  async start(): Promise<void> {
    this.#child = spawn(process.execPath, [...startArgs, ...this.#nodeArgs, main], {
      ...apart,
      cwd: this.#dir,
      env: {
        PATH: process.env.PATH,
        HOST: '127.0.0.1',
        PORT: '0',
        DATA_DIR: this.#dir,
        API_KEY: key,
        LOG_LEVEL: 'warn',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#port = await listening(this.#child)
  }

  /** Calls the API with the API key, or a token; gives the text of the answer. Throws unless it is 2xx. */
  async call(method: string, path: string, body?: unknown, credential = key): Promise<string> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}${path}`, {
      method,
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`)
    return text
  }

  /** A fresh process on the same data: nothing in memory, nothing compiled. */
  async restart(): Promise<void> {
    await this.#end()
    await this.start()
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
    this.#child?.kill(name)
  }

  /** Ends the server as an operator would, so that the database is shut down and profiles are written. */
  async #end(): Promise<void> {
    await this.#sql?.end({ timeout: 1 })
    this.#sql = null
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise(resolve => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
  }
}

function listening(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout!.on('data', (chunk: Buffer) => {
      output += chunk
      const port = /listens on \S+:(\d+)/.exec(output)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`The server ended with ${code} before it listened: ${output}`)))
  })
}
