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

/** Stands in the cluster's folder, where only PostgreSQL's own user and root can read it. */
const passwordFile = 'parley.password'

/**
 * Makes a database cluster at `path` unless there is one. It appears there all at once: a crash in the middle leaves
 * only a draft behind, which nobody will mistake for data.
 *
 * Connections from outside the folder need the password. The Unix socket lies in the folder, which nobody else may
 * enter, and needs none. Text is compared by code point and folded as Unicode on every machine alike.
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
 * StartFault where the cluster was made by another major version of PostgreSQL, whose files this one does not read, with
 * the way over.
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

/** The address of the cluster's database, by its socket or, without one, on the loopback interface. */
export function toUrl(cluster: string, { port, socketDir }: Pick<Postmaster, 'port' | 'socketDir'>): string {
  return socketDir !== null
    ? `postgres://${superuser}@${encodeURIComponent(socketDir)}:${port}/postgres`
    : `postgres://${superuser}:${readPassword(cluster)}@127.0.0.1:${port}/postgres`
}

/** What PostgreSQL says of itself in postmaster.pid. */
interface Postmaster {
  pid: number
  port: number
  /** Null where it listens on the loopback interface alone. */
  socketDir: string | null
  isReady: boolean
}

/** The server that works on the cluster, as far as its pid file can be believed; null without one. */
export function readPostmaster(cluster: string): Postmaster | null {
  let lines: string[]
  try {
    lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    // No pid file: no server, or one that has not got that far.
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
 * True where a server still works on the cluster. A pid file may outlive its server, and the pid may since belong to
 * somebody else; on Linux the process's working folder tells, elsewhere the pid alone has to do.
 */
export function isServed(cluster: string): boolean {
  const postmaster = readPostmaster(cluster)
  if (postmaster === null || !isAlive(postmaster.pid)) return false
  return process.platform !== 'linux' || worksIn(cluster, postmaster.pid)
}

/**
 * Removes a pid file that PostgreSQL would believe although no server is left: its pid belongs to a dead process that
 * nobody has collected, as in containers without an init, or to somebody else. Only for whoever holds the lock, and
 * only on Linux, where it can be known that no process of the old server is left.
 */
export function forgetPostmaster(cluster: string): void {
  const postmaster = readPostmaster(cluster)
  if (postmaster === null || process.platform !== 'linux' || !isAlive(postmaster.pid)) return
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  if (!pids.some(pid => worksIn(cluster, Number(pid)))) rmSync(join(cluster, 'postmaster.pid'), { force: true })
}

/** Every process of PostgreSQL works in its cluster's folder. False for one that is gone or may not be looked at. */
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
