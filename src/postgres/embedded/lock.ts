import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartFault } from '../../lib/errors.ts'

/**
 * Claims a data directory for this process until the returned function is called or the process ends, however it
 * ends: the kernel drops the lock, so there is none to clean up after `kill -9`. Throws a StartFault where another process has it.
 *
 * Node has no file locks of its own. SQLite's are the kernel's (fcntl), work on every platform and between
 * containers that share a volume; a pid file or a socket file would have to be taken over by a guess.
 */
export function lockDirectory(dir: string): () => void {
  const database = new DatabaseSync(join(dir, 'lock'))
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
