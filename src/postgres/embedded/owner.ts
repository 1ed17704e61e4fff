import { execFile } from 'node:child_process'
import { chmodSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { StartFault } from '../../lib/errors.ts'

const run = promisify(execFile)

/** The system user who owns PostgreSQL's processes and files. */
export interface Owner {
  uid: number
  gid: number
}

/**
 * The user to run PostgreSQL as; null for the user of this process. PostgreSQL refuses to run as root, so for root this
 * is the user `postgres`, or `parley`, which is created where neither exists.
 */
export async function findOwner(): Promise<Owner | null> {
  if (process.getuid?.() !== 0) return null
  return (await lookUp('postgres')) ?? (await lookUp('parley')) ?? (await createOwner('parley'))
}

/** True where the owner may enter every folder above `path` and read `path` itself. */
export function mayRead(owner: Owner, path: string): boolean {
  return allows(owner, path, 0o4) && (path === dirname(path) || mayPass(owner, dirname(path)))
}

/** True where the owner may pass through `folder`, and all folders above it, to a file known by name. */
export function mayPass(owner: Owner, folder: string): boolean {
  return allows(owner, folder, 0o1) && (folder === dirname(folder) || mayPass(owner, dirname(folder)))
}

/** Lets all users pass through a folder (mode +x), without letting them list it. */
export function openToPass(folder: string): void {
  chmodSync(folder, (statSync(folder).mode & 0o7777) | 0o011)
}

function allows({ uid, gid }: Owner, entry: string, bit: number): boolean {
  const { mode, uid: user, gid: group } = statSync(entry)
  return ((user === uid ? mode >> 6 : group === gid ? mode >> 3 : mode) & bit) !== 0
}

async function lookUp(name: string): Promise<Owner | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    // `id` fails for a name that it does not know.
    return null
  }
}

async function createOwner(name: string): Promise<Owner> {
  const fixed = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent']
  try {
    await run('useradd', [...fixed, '--shell', '/usr/sbin/nologin', name])
  } catch (cause) {
    throw new StartFault(
      `PostgreSQL does not run as root, and the system user "${name}" could not be created for it. Start Parley as ` +
        'another user, create that user, or set DATABASE_URL to a PostgreSQL of your own.',
      { cause },
    )
  }
  const owner = await lookUp(name)
  if (owner === null) throw new Error(`The system user "${name}" was created but cannot be found`)
  return owner
}
