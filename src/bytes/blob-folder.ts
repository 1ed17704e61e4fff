import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StartFault } from '../lib/errors.ts'
import { makePrivate, openDirectory, privateFile } from '../lib/data/directory.ts'
import type { Db, Sql } from '../postgres/sql.ts'

/** The file that marks a folder of uploads. */
export const markerName = '.uploads'

/**
 * The folder of uploads in a data directory, both created where they are missing. StartFault where that fails, or the
 * folder cannot be written.
 */
export function openFolder(dir: string): string {
  openDirectory(dirname(dir))
  const folder = openDirectory(dir)
  makePrivate(folder)
  return folder
}

/**
 * Checks that this node keeps uploads in the folder of its database: the marker file holds an id that the database
 * knows. The first node marks its folder. StartFault for any other folder: uploads through one node would be missing on
 * the others, unnoticed until they are read.
 */
export async function requireFolderOfDatabase(sql: Sql, dir: string): Promise<void> {
  const folder = openFolder(dir)
  const path = join(folder, markerName)
  let known = await findFolderId(sql)
  // Nodes that start together on a new database take turns.
  if (known === null) known = await sql.begin(tx => claim(tx, path))
  const own = readMarker(path)
  if (own !== null) makePrivate(path)
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

/** StartFault where a folder already holds the uploads of a database. */
export function requireUnusedFolder(dir: string): void {
  const folder = openFolder(dir)
  if (readMarker(join(folder, markerName)) === null) return
  throw new StartFault(
    `The folder ${folder} holds the uploads of another database. Move it away, or set DATA_DIR to another directory.`,
  )
}

/** Lets the next node that starts mark its folder of uploads, whatever folder the database was used with before. */
export async function forgetFolder(db: Db): Promise<void> {
  await db`update environment set blob_folder = null`
}

async function findFolderId(db: Db): Promise<string | null> {
  const [row] = await db<{ blob_folder: string | null }[]>`select blob_folder from environment`
  return row?.blob_folder ?? null
}

/** Returns the id of the database's folder of uploads; marks the first folder. */
async function claim(tx: Db, path: string): Promise<string> {
  await tx`select from environment for update`
  const known = await findFolderId(tx)
  if (known !== null) return known
  // The marker is written before the database: one that the database does not know is adopted by the next start.
  const id = readMarker(path) ?? mark(path)
  await tx`update environment set blob_folder = ${id}`
  return id
}

function mark(path: string): string {
  const id = randomUUID()
  const draft = `${path}-${process.pid}`
  writeFileSync(draft, `${id}\n`, { mode: privateFile })
  renameSync(draft, path)
  return id
}

/** Null without a marker. A malformed id counts as that of another database. */
function readMarker(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
