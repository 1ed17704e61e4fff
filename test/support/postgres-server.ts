import { execFileSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { findBinaries, type Binaries } from '../../src/postgres/embedded/binaries.ts'
import { makeCluster, readPassword, superuser } from '../../src/postgres/embedded/cluster.ts'
import { findOwner, type Owner } from '../../src/postgres/embedded/owner.ts'
import { placeBinaries } from '../../src/postgres/embedded/place.ts'
import { launch } from '../../src/postgres/embedded/programs.ts'
import { toArguments } from '../../src/postgres/embedded/server-settings.ts'
import { openSql, type Sql } from '../../src/postgres/sql.ts'
import { eventually } from './eventually.ts'
import { findPort } from './port.ts'
import { killBackends } from './process.ts'

/** What a server and its standbys have in common. */
interface Installation {
  /** Each server has a folder of its own in it, named after its port. */
  dir: string
  binaries: Binaries
  owner: Owner | null
  isDurable: boolean
  onDeath: (words: string) => void
}

export interface PostgresOptions {
  /** An empty folder that PostgreSQL's user may enter. */
  dir: string
  port?: number
  isDurable?: boolean
  /** Called with the last lines of the log when it ended although nothing here had asked for it. */
  onDeath?: (words: string) => void
}

const standbyName = 'standby'

/** For a few nodes with their connections, and for what looks into the database from outside. */
const connections = 100

/** How much of its log a server keeps for a standby that is being made. */
const keptLog = '1GB'

/**
 * A PostgreSQL that is not supervised: it can be crashed, started again, copied into a hot standby, and replaced by it.
 * Started by `start` or `makeStandby`, ended by `crash` or `stop`; its files are left in the folder.
 */
export class PostgresServer {
  readonly port: number
  readonly url: string
  /** Two connections, made on first use. */
  readonly sql: Sql
  readonly #installation: Installation
  #child: ChildProcess | null = null
  #isEnding = false

  private constructor(installation: Installation, port: number, password: string) {
    this.#installation = installation
    this.port = port
    this.url = `postgres://${superuser}:${password}@127.0.0.1:${port}/postgres`
    this.sql = openSql({ url: this.url, connections: 2, statementTimeoutMs: 30_000 })
  }

  static async start({ dir, port, isDurable = true, onDeath = () => {} }: PostgresOptions): Promise<PostgresServer> {
    chmodSync(dir, 0o755)
    const owner = await findOwner()
    const binaries = placeBinaries(await findBinaries(), owner)
    const installation = { dir, binaries, owner, isDurable, onDeath }
    const own = port ?? (await findPort())
    const cluster = toCluster(dir, own)
    makeFolder(join(dir, `${own}`), owner)
    await makeCluster(cluster, binaries, owner)
    const server = new PostgresServer(installation, own, readPassword(cluster))
    await server.start()
    return server
  }

  /** Starts it again after it has ended, and resolves when it answers. */
  async start(): Promise<void> {
    const { dir, binaries, owner, isDurable, onDeath } = this.#installation
    const log = join(dir, `${this.port}`, 'postgres.log')
    const output = openSync(log, 'a')
    const args = toArguments({ socketDir: null, port: this.port, connections, isDurable })
    this.#isEnding = false
    const child = launch(
      binaries.postgres,
      ['-D', toCluster(dir, this.port), ...args, '-c', `wal_keep_size=${keptLog}`],
      owner,
      output,
    )
    closeSync(output)
    this.#child = child
    child.once('exit', (code, signal) => {
      if (!this.#isEnding) onDeath(`ended with ${signal ?? code}: ${readFileSync(log, 'utf8').slice(-2_000)}`)
    })
    await eventually(() => this.sql`select 1`, { timeoutMs: 60_000 })
  }

  /** A hot standby that streams from this server, as it is while others write. */
  async makeStandby(port?: number): Promise<PostgresServer> {
    const { dir, owner } = this.#installation
    const own = port ?? (await findPort())
    const cluster = toCluster(dir, own)
    // It may be recovering from something else.
    const label = await eventually(() => this.#copyTo(own), { timeoutMs: 60_000 })
    const password = readPassword(cluster)
    const primary = `host=127.0.0.1 port=${this.port} user=${superuser} password=${password}`
    const write = (name: string, text: string) => {
      appendFileSync(join(cluster, name), text)
      if (owner !== null) chownSync(join(cluster, name), owner.uid, owner.gid)
    }
    write('backup_label', label)
    write('standby.signal', '')
    write('postgresql.auto.conf', `primary_conninfo = '${primary} application_name=${standbyName}'\n`)
    const standby = new PostgresServer(this.#installation, own, password)
    await standby.start()
    return standby
  }

  /** Commits wait from now on until the standby has them, too. Resolves when it does. */
  async waitForStandby(): Promise<void> {
    await this.sql.unsafe(`alter system set synchronous_standby_names = '${standbyName}'`)
    await this.sql`select pg_reload_conf()`
    await eventually(
      async () => {
        const [row] = await this.sql`select sync_state from pg_stat_replication where application_name = ${standbyName}`
        if (row?.sync_state !== 'sync') throw new Error('The standby is not synchronous yet')
      },
      { timeoutMs: 30_000 },
    )
  }

  /** Resolves when the standby has everything that was committed here. */
  async awaitStandby(standby: PostgresServer): Promise<void> {
    const [here] = await this.sql`select pg_current_wal_flush_lsn()::text as position`
    await eventually(
      async () => {
        const [there] = await standby.sql`select pg_last_wal_replay_lsn() >= ${here!.position}::pg_lsn as has_it`
        if (there?.has_it !== true) throw new Error('The standby is behind')
      },
      { timeoutMs: 30_000 },
    )
  }

  /** A standby hears nothing more of its primary: what that acknowledges from now on will be lost. */
  async isolate(): Promise<void> {
    await this.sql.unsafe(`alter system set primary_conninfo = ''`)
    await this.sql`select pg_reload_conf()`
    await eventually(async () => {
      if ((await this.sql`select from pg_stat_wal_receiver`).length > 0)
        throw new Error('It still hears of its primary')
    })
  }

  /** Makes a primary of a standby. Resolves when it takes writes. */
  async promote(): Promise<void> {
    await this.sql`select pg_promote()`
  }

  /** Starts a primary that has ended as a hot standby of nobody: it can be read, as it was when it ended. */
  async startAsStandby(): Promise<void> {
    writeFileSync(join(toCluster(this.#installation.dir, this.port), 'standby.signal'), '')
    await this.start()
  }

  /** Signals the process of each connection; SIGKILL makes PostgreSQL end all others and recover. */
  signalBackends(signal: NodeJS.Signals): void {
    killBackends({ path: join(this.#installation.dir, `${this.port}`) }, signal)
  }

  /** Copies the files of a server that does not run. The function returned puts them back. */
  snapshot(): () => void {
    const { dir } = this.#installation
    const cluster = toCluster(dir, this.port)
    const copy = `${cluster}-snapshot`
    execFileSync('cp', ['-a', cluster, copy])
    return () => {
      rmSync(cluster, { recursive: true })
      renameSync(copy, cluster)
    }
  }

  /** All its processes end at once and write nothing any more, as in a crash. Resolves when they have. */
  async crash(): Promise<void> {
    await this.#end('SIGQUIT')
  }

  async stop(): Promise<void> {
    await this.sql.end({ timeout: 1 })
    await this.#end('SIGQUIT')
  }

  /** Copies its files for another server, as a base backup, and gives the label that belongs to it. */
  async #copyTo(port: number): Promise<string> {
    const { dir, owner } = this.#installation
    // Left by a server that had failed.
    rmSync(join(dir, `${port}`), { recursive: true, force: true })
    makeFolder(join(dir, `${port}`), owner)
    const backup = await this.sql.reserve()
    try {
      await backup`select pg_backup_start('standby', true)`
      copyFiles(toCluster(dir, this.port), toCluster(dir, port))
      const [stopped] = await backup<[{ label: string }]>`select labelfile as label from pg_backup_stop(false)`
      return stopped.label
    } finally {
      backup.release()
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    this.#isEnding = true
    child.kill(signal)
    await once(child, 'exit')
  }
}

/** Several servers as DATABASE_URL names them, of which one at a time is the primary. */
export function toSharedUrl(url: string, ports: readonly number[]): string {
  const hosts = ports.map(port => `127.0.0.1:${port}`).join(',')
  return `${url.replace(/@[^/]*/, `@${hosts}`)}?target_session_attrs=read-write`
}

const toCluster = (dir: string, port: number) => join(dir, `${port}`, 'postgres')

function makeFolder(path: string, owner: Owner | null): void {
  mkdirSync(path)
  if (owner !== null) chownSync(path, owner.uid, owner.gid)
}

/**
 * Copies a cluster while it is written to. Files may come and go meanwhile, and change while they are read; the log,
 * which the copy gets from the server, repairs that.
 */
function copyFiles(from: string, to: string): void {
  const script = [
    'mkdir -m 700 "$2" && chown --reference="$1" "$2"',
    // 1 says that files changed or vanished.
    '{ tar -C "$1" -c --exclude="./pg_wal/*" --exclude=./postmaster.pid . 2>/dev/null || [ $? = 1 ]; } | tar -C "$2" -xp',
  ]
  execFileSync('sh', ['-ec', script.join('\n'), 'copy', from, to])
}
