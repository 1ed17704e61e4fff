import { chmodSync, chownSync, cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { readlinkSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { readVersion, type Binaries } from './binaries.ts'
import { mayPass, mayRead, openToPass, type Owner } from './owner.ts'

/** Holds files for a user other than root when that user cannot enter root's checkout. */
const publicDir = '/var/lib/parley'

/**
 * The real path of the folder for a database cluster under `dataDir`; it may not exist yet. Where PostgreSQL's user
 * cannot get there, because a folder above belongs to root alone (a checkout in /root), it is a link to a new folder
 * under /var/lib/parley.
 */
export function placeCluster(dataDir: string, owner: Owner | null): string {
  const path = join(realpathSync(dataDir), 'postgres')
  if (owner === null) return path
  // The data directory itself may be opened: what lies in it has permissions of its own.
  if (!mayPass(owner, dirname(path))) openToPass(dataDir)
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return readlinkSync(path)
  if (existsSync(path)) return path
  if (mayPass(owner, dirname(path))) return path
  const elsewhere = join(makePublicDir('data-'), 'postgres')
  symlinkSync(elsewhere, path)
  return elsewhere
}

/** Programs that PostgreSQL's user can run: as installed, or a copy under /var/lib/parley. */
export function placeBinaries(binaries: Binaries, owner: Owner | null): Binaries {
  const { root } = binaries
  if (
    owner === null ||
    [binaries.postgres, join(root, 'lib'), join(root, 'share')].every(path => mayRead(owner, path))
  ) {
    return binaries
  }
  const copy = join(publicDir, `postgresql-${readVersion(root)}`)
  if (!existsSync(copy)) {
    const fresh = makePublicDir('copy-')
    cpSync(root, fresh, { recursive: true, verbatimSymlinks: true })
    openAll(fresh)
    moveInto(fresh, copy)
  }
  const moved = (program: string) => join(copy, relative(root, program))
  const { initdb, postgres, pg_ctl, major } = binaries
  return { initdb: moved(initdb), postgres: moved(postgres), pg_ctl: moved(pg_ctl), root: copy, major }
}

/** Removes drafts that an earlier process left when it ended. Requires the lock on the data directory. */
export function removeDrafts(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(`${basename(path)}-draft-`)) continue
    // A program that outlived its process may still be writing there.
    rmSync(join(dirname(path), name), { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Makes an empty folder beside `path`, to be renamed to `path` when it is complete. */
export function makeDraft(path: string, owner: Owner | null): string {
  const draft = mkdtempSync(join(dirname(path), `${basename(path)}-draft-`))
  if (owner !== null) chownSync(draft, owner.uid, owner.gid)
  return draft
}

/** Renames a finished draft to `path`. Where another process was faster, its result stays. */
export function moveInto(draft: string, path: string): void {
  try {
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(path)) throw error
  }
}

function makePublicDir(prefix: string): string {
  mkdirSync(publicDir, { recursive: true, mode: 0o755 })
  const dir = mkdtempSync(join(publicDir, prefix))
  chmodSync(dir, 0o755)
  return dir
}

/** With a strict umask npm installs files for root alone, and copies inherit their permissions. */
function openAll(dir: string): void {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) openAll(path)
    if (entry.isFile()) chmodSync(path, entry.parentPath.endsWith('/bin') ? 0o755 : 0o644)
  }
  chmodSync(dir, 0o755)
}
