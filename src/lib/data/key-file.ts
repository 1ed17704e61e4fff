import { randomBytes, randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivate, openDirectory, privateFile } from './directory.ts'
import { StartFault } from '../errors.ts'
import { Secret } from '../secret.ts'
import { isKey } from '../vault.ts'

/** The file in a data directory with the keys that secrets are sealed with, where SECRET_KEYS has none: one a line. */
export function keyFileOf(dataDir: string): string {
  return join(dataDir, 'secret.key')
}

/** The keys of the file, the one that seals first; none without a file. StartFault where it holds anything else. */
export function readKeyFile(path: string): Secret[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw new StartFault(`The file ${path}, with the key that secrets are sealed with, cannot be read (${code}).`, {
      cause,
    })
  }
  makePrivate(path)
  const keys = text.split(/\s+/).filter(key => key !== '')
  if (keys.length > 0 && keys.every(isKey)) return keys.map(key => new Secret(key))
  throw new StartFault(
    `The file ${path} is to hold keys of 32 bytes in base64, one a line, and holds something else. Put a copy of it back; ` +
      'without one, set SECRET_KEYS.',
  )
}

/**
 * Makes the file, with a new key, and returns its keys. It appears with its contents in one step, on disk; of several
 * processes that make it at once, one does, and all return its key.
 */
export function makeKeyFile(dataDir: string): Secret[] {
  const path = keyFileOf(openDirectory(dataDir))
  const draft = `${path}-${randomUUID()}`
  const file = openSync(draft, 'wx', privateFile)
  try {
    writeSync(file, `${randomBytes(32).toString('base64')}\n`)
    fsyncSync(file)
    // Unlike a rename, a link fails where another process was faster.
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    closeSync(file)
    rmSync(draft)
  }
  synchronize(dataDir)
  return readKeyFile(path)
}

/** Until the folder is synchronised too, a power failure may lose a new name. */
function synchronize(folder: string): void {
  const handle = openSync(folder, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
