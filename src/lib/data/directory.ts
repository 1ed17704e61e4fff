import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { StartFault } from '../errors.ts'

/** Folders and files below a data directory are for the user of this process alone, whatever its umask says. */
export const privateFolder = 0o700
export const privateFile = 0o600

/**
 * The data directory, or a folder of its own within it, as an absolute path; created for this user alone where it is
 * missing. StartFault where it cannot be created or written.
 */
export function openDirectory(dataDir: string): string {
  const dir = resolve(dataDir)
  try {
    make(dir, privateFolder)
    const probe = join(dir, `.probe-${process.pid}`)
    writeFileSync(probe, '', { mode: privateFile })
    rmSync(probe)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new StartFault(
      `The data directory ${dir} cannot be written (${code}). Make it writable for the user that Parley runs as, or ` +
        'set DATA_DIR to another directory.',
      { cause },
    )
  }
  return dir
}

/**
 * Takes permissions of others from a file or folder that an earlier version made; from what another user owns it cannot.
 */
export function makePrivate(path: string): void {
  const { mode, uid } = statSync(path)
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(path, mode & 0o700)
}

/**
 * Folders above it get what the umask leaves: they may hold other things. Node's recursive `mkdir` retries for ever where
 * an existing folder answers ENOENT to new ones, as in /proc.
 */
function make(dir: string, mode?: number): void {
  if (statSync(dir, { throwIfNoEntry: false }) !== undefined) return
  make(dirname(dir))
  try {
    mkdirSync(dir, { mode })
  } catch (error) {
    // Another node on this disk was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
