import type { Bytes } from '../../../bytes/bytes.ts'
import { StartFault } from '../../../lib/errors.ts'
import { openConnection, type Db } from '../../../postgres/sql.ts'
import { holdOrphanedBytes } from '../../../resources/blobs/store.ts'
import { findUserId } from '../../../resources/users/store.ts'
import type { Progress } from '../../progress.ts'
import { formatVersion, type DraftLine } from '../format.ts'
import { listApps } from './apps.ts'
import { BlobLines } from './blobs.ts'
import { listItems, listOwnAttached } from './items.ts'
import { listDirectories, listFollows, UserLines } from './people.ts'
import type { Scope, Source } from './source.ts'

interface ExportParts {
  url: string
  bytes: Bytes
  /** An id or uid. */
  only: { app?: string | undefined; user?: string | undefined }
  progress: Progress
}

/**
 * The lines of a deployment, of one app, or of all that one user wrote and that is about that user, as they are at one
 * moment: a transaction sees one snapshot, while nodes go on.
 */
export async function* exportLines({ url, bytes, only, progress }: ExportParts): AsyncGenerator<DraftLine> {
  const db = openConnection({ url, statementTimeoutMs: 600_000, idleTimeoutMs: 0, applicationName: 'parley admin' })
  try {
    // Before the snapshot, so that files it sees are not removed from now on.
    await holdOrphanedBytes(db)
    await db.unsafe('begin isolation level repeatable read read only')
    const scope = await toScope(db, only)
    const blobs = new BlobLines(db, bytes, progress)
    const source = { db, scope, users: new UserLines({ db, scope }, blobs), blobs }
    for await (const line of listLines(source)) {
      progress.count('Export', 1, 'lines')
      yield line
    }
  } finally {
    await db.end({ timeout: 1 })
  }
}

async function* listLines(source: Source): AsyncGenerator<DraftLine> {
  const { db, scope, users } = source
  const [row] = await db<{ deployment: string }[]>`select deployment from environment`
  yield { type: 'header', format: 'parley', version: formatVersion, source: row!.deployment }
  yield* listDirectories(source)
  if (scope.app === null) {
    yield* users.all()
    yield* listFollows(source)
  }
  for await (const { id, lines, members } of listApps(source)) {
    yield* lines
    yield* listItems(source, id)
    yield* members
  }
  if (scope.user !== null) yield* listOwnAttached(source, scope.user)
}

/** StartFault where there is no such app or user. */
async function toScope(db: Db, { app, user }: ExportParts['only']): Promise<Scope> {
  const scope: Scope = { app: null, user: null }
  if (user !== undefined) {
    scope.user = await findUserId(db, user)
    if (scope.user === null) throw new StartFault(`There is no user ${user}.`)
  }
  if (app !== undefined) {
    const id = /^\d{1,15}$/.test(app) ? Number(app) : null
    const rows = await db<{ id: number }[]>`
      select id from apps where deleted_at is null and (id = ${id} or fold_name(uid) = fold_name(${app}))`
    if (rows.length > 1) throw new StartFault(`Several agent chats have the uid ${app}: name one by its id.`)
    if (rows.length === 0) throw new StartFault(`There is no app ${app}.`)
    scope.app = rows[0]!.id
  }
  return scope
}
