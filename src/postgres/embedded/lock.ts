import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makePrivate, privateFile } from '../../lib/data/directory.ts'
import { StartFault } from '../../lib/errors.ts'

/**
 * Locks a data directory for this process until the returned function is called or the process ends in any way: the
 * kernel drops the lock, so nothing stale remains after `kill -9`. StartFault where another process holds it.
 *
 * Node has no file locks. SQLite's are the kernel's (fcntl), and work on every platform and between containers that
 * share a volume; whether a pid file or a socket file is stale could only be guessed.
 */
export function lockDirectory(dir: string): () => void {
  const path = join(dir, 'lock')
  makeFile(path)
  const database = new DatabaseSync(path)
  try {
    database.exec('begin exclusive')
  } catch (cause) {
    database.close()
    throw new StartFault(
      `The data directory ${dir} is in use by another Parley process. Stop that one, or set DATA_DIR to another ` +
        'directory. Several nodes can share one database through DATABASE_URL.',
      { cause },
    )
  }
  return () => database.close()
}

/** SQLite would make the file as the umask says. One that is there is not opened: to close it would drop its lock. */
function makeFile(path: string): void {
  try {
    writeFileSync(path, '', { flag: 'wx', mode: privateFile })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    makePrivate(path)
  }
}
