import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartFault } from '../../lib/errors.ts'
import type { Binaries } from './binaries.ts'
import type { Owner } from './owner.ts'
import { makeDraft, moveInto, removeDrafts } from './place.ts'
import { runToEnd } from './programs.ts'

/** The database superuser: the owner of everything in an embedded database. */
export const superuser = 'parley'

/** A file in the cluster's folder, readable by PostgreSQL's own user and root alone. */
const passwordFile = 'parley.password'

/**
 * Creates a database cluster at `path` unless it exists. It appears there in one step: a crash leaves only a draft
 * folder behind, which cannot be mistaken for data.
 *
 * TCP connections need the password. The Unix socket lies in the cluster's folder, which only its owner may enter, and
 * needs none. On every machine, text is compared by code point and folded as Unicode.
 */
export async function makeCluster(path: string, binaries: Binaries, owner: Owner | null): Promise<void> {
  if (existsSync(path)) return
  removeDrafts(path)
  const draft = makeDraft(path, owner)
  const password = `${draft}.password`
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const access = [`--username=${superuser}`, '--auth-local=trust', '--auth-host=scram-sha-256', `--pwfile=${password}`]
  writeFileSync(password, randomBytes(24).toString('base64url'), { mode: 0o600 })
  if (owner !== null) chownSync(password, owner.uid, owner.gid)
  await runToEnd(binaries.initdb, [`--pgdata=${draft}`, ...locale, ...access], owner)
  moveInto(password, join(draft, passwordFile))
  moveInto(draft, path)
}

/**
 * StartFault where another major version of PostgreSQL made the cluster, whose files this one cannot read; the message
 * says how to migrate.
 */
export function requireMajor(cluster: string, { major }: Binaries): void {
  const made = Number.parseInt(readFileSync(join(cluster, 'PG_VERSION'), 'utf8'), 10)
  if (made === major) return
  throw new StartFault(
    [
      `The database in ${cluster} was made by PostgreSQL ${made}, and this version of Parley brings PostgreSQL ${major}, which ` +
        'does not read its files. They are as they were. The way over:',
      `With the version of Parley that brought PostgreSQL ${made}: npm run admin -- backup parley.tar`,
      'With this version, and DATA_DIR naming a new directory: npm run admin -- restore --moved parley.tar',
    ].join('\n  - '),
  )
}

export function readPassword(cluster: string): string {
  return readFileSync(join(cluster, passwordFile), 'utf8')
}

/** The URL of the cluster's database, by its Unix socket or, if it has none, on the loopback interface. */
export function toUrl(cluster: string, { port, socketDir }: Pick<Postmaster, 'port' | 'socketDir'>): string {
  return socketDir !== null
    ? `postgres://${superuser}@${encodeURIComponent(socketDir)}:${port}/postgres`
    : `postgres://${superuser}:${readPassword(cluster)}@127.0.0.1:${port}/postgres`
}

/** The contents of postmaster.pid. */
interface Postmaster {
  pid: number
  port: number
  /** Null where the server listens on the loopback interface alone. */
  socketDir: string | null
  isReady: boolean
}

/** Reads the pid file of the cluster; null without one. The file may be stale: see `isServed`. */
export function readPostmaster(cluster: string): Postmaster | null {
  let lines: string[]
  try {
    lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    // No pid file: no server, or one that has not written it yet.
    return null
  }
  return {
    pid: Number(lines[0]),
    port: Number(lines[3]),
    socketDir: lines[4]?.trim() || null,
    isReady: lines[7]?.trim() === 'ready',
  }
}

/**
 * True where a server is running on the cluster. A pid file may outlive its server, and its pid may since belong to
 * another process: on Linux this checks the working folder of the process, elsewhere only that the pid exists.
 */
export function isServed(cluster: string): boolean {
  const postmaster = readPostmaster(cluster)
  if (postmaster === null || !isAlive(postmaster.pid)) return false
  return process.platform !== 'linux' || worksIn(cluster, postmaster.pid)
}

/**
 * Removes a stale pid file that PostgreSQL would trust: its pid belongs to an unrelated process, or to a dead one that
 * was never reaped, as in containers without an init. Requires the lock on the data directory. Does something on Linux
 * only, where it can be known that no process of the old server is left.
 */
export function forgetPostmaster(cluster: string): void {
  const postmaster = readPostmaster(cluster)
  if (postmaster === null || process.platform !== 'linux' || !isAlive(postmaster.pid)) return
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  if (!pids.some(pid => worksIn(cluster, Number(pid)))) rmSync(join(cluster, 'postmaster.pid'), { force: true })
}

/**
 * True where the process works in the cluster's folder, as all processes of PostgreSQL do. False where it is gone or
 * may not be inspected.
 */
function worksIn(cluster: string, pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === cluster
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
