import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartFault } from '../lib/errors.ts'
import { openDirectory } from '../lib/data-directory.ts'
import type { Db, Sql } from '../postgres/sql.ts'

/** The file that tells a folder of uploads from any other one. */
export const markerName = '.uploads'

/**
 * Makes sure that all nodes of a database keep uploads in one folder: it has a marker, whose id is in the database. The
 * first node that keeps uploads marks its folder. StartFault for any other folder: what is uploaded through one node
 * would be missing on the others, and nobody would notice before it is asked for.
 */
export async function requireFolderOfDatabase(sql: Sql, dir: string): Promise<void> {
  const folder = openDirectory(dir)
  const path = join(folder, markerName)
  let known = await findFolderId(sql)
  // Nodes that start together on a new database take turns.
  if (known === null) known = await sql.begin(tx => claim(tx, path))
  const own = readMarker(path)
  if (own === known) return
  throw new StartFault(
    [
      `The folder for uploads, ${folder}, is not the one that this database's uploads are kept in: its marker ${path} ` +
        `${own === null ? 'is missing' : `says ${own}`}, and the database says ${known}. Three ways out:`,
      'Let all nodes of a database share this folder, by a file system that all of them mount, and DATA_DIR.',
      'Keep uploads in an S3-compatible store, with S3_BUCKET.',
      `If this is the folder, moved or restored without its marker, or its uploads are lost: echo ${known} > ${path}`,
    ].join('\n  - '),
  )
}

/** StartFault where a folder holds the uploads of a database already. */
export function requireUnusedFolder(dir: string): void {
  const folder = openDirectory(dir)
  if (readMarker(join(folder, markerName)) === null) return
  throw new StartFault(
    `The folder ${folder} holds the uploads of another database. Move it away, or set DATA_DIR to another directory.`,
  )
}

/** The next node that starts with a folder of uploads marks it, whatever folder the database was used with before. */
export async function forgetFolder(db: Db): Promise<void> {
  await db`update environment set blob_folder = null`
}

async function findFolderId(db: Db): Promise<string | null> {
  const [row] = await db<{ blob_folder: string | null }[]>`select blob_folder from environment`
  return row?.blob_folder ?? null
}

/** The id of the folder of uploads, which is marked with it where it is the first. */
async function claim(tx: Db, path: string): Promise<string> {
  await tx`select from environment for update`
  const known = await findFolderId(tx)
  if (known !== null) return known
  // Before the database: a marker that it does not know yet is taken over by the next start.
  const id = readMarker(path) ?? mark(path)
  await tx`update environment set blob_folder = ${id}`
  return id
}

function mark(path: string): string {
  const id = randomUUID()
  const draft = `${path}-${process.pid}`
  writeFileSync(draft, `${id}\n`)
  renameSync(draft, path)
  return id
}

/** Null where there is none. What is no id is like that of another database. */
function readMarker(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
