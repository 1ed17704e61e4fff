import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { StartFault } from './errors.ts'

/**
 * The data directory as an absolute path, created where it is missing. StartFault where it cannot be created or
 * written.
 */
export function openDirectory(dataDir: string): string {
  const dir = resolve(dataDir)
  try {
    make(dir)
    const probe = join(dir, `.probe-${process.pid}`)
    writeFileSync(probe, '')
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

/** Node's recursive `mkdir` retries for ever where an existing folder answers ENOENT to new ones, as in /proc. */
function make(dir: string): void {
  if (statSync(dir, { throwIfNoEntry: false }) !== undefined) return
  make(dirname(dir))
  try {
    mkdirSync(dir)
  } catch (error) {
    // Another node on this disk was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
