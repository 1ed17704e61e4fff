import type { AppState } from '../../engine/state.ts'
import type { Db } from '../../postgres/sql.ts'
import type { Representation } from '../../http/route.ts'
import { NotFound } from '../../lib/errors.ts'
import { toPagedList, type Page } from '../../api/page.ts'
import { findStates } from '../apps/find.ts'
import { namesakes } from '../apps/naming.ts'
import { showAppSummary } from '../apps/represent.ts'
import { findStarred } from '../stars/store.ts'
import { findSubscribed } from '../subscriptions/store.ts'
import type { Served } from '../route.ts'
import type { Caller } from './find.ts'
import { noMarks, showFile, showRaw, type OwnMarks } from './represent.ts'
import type { FileRow } from './schema.ts'

type Request = Caller & Served<'origin' | 'representation'>

/**
 * A file; loads the users that it names. 404 where its app was deleted since. `known`: its app, where the request has
 * opened it before.
 */
export async function showWhole(file: FileRow, request: Request, known: AppState | null = null): Promise<object> {
  const [shown] = await showAll([file], 'details', request, known)
  if (shown === undefined) throw NotFound()
  return shown
}

/** Files of a page, without those of apps deleted since. `known`: where all are of one app, its state. */
export async function showPage(
  { rows, count }: { rows: FileRow[]; count: number },
  page: Page,
  request: Request,
  known: AppState | null = null,
): Promise<object> {
  return toPagedList(page, count, await showAll(rows, request.representation.items, request, known))
}

async function showAll(
  found: FileRow[],
  items: Representation['items'],
  request: Request,
  known: AppState | null = null,
): Promise<object[]> {
  const { userCache } = request
  const ids = found.map(file => file.app_id)
  const states = await findStates(ids, request, known)
  const files = found.filter(file => states.has(file.app_id))
  const marks = await loadMarks(files, request)
  await userCache.load([...files.flatMap(namesOf), ...[...states.values()].flatMap(namesakes)])
  return files.map(file => ({
    ...showFile(file, request, marks),
    ...(items === 'details' && showRaw(file)),
    app: showAppSummary(states.get(file.app_id)!, request),
  }))
}

/** Whole files of one app that are read and yet to be shown, when the users of `names` are in memory. */
export async function readFiles(
  files: FileRow[],
  reader: Served<'by' | 'userCache' | 'origin'> & { sql: Db },
  state: AppState,
): Promise<{ names: number[]; show: () => object[] }> {
  const marks = await loadMarks(files, reader)
  const show = (file: FileRow) => ({
    ...showFile(file, reader, marks),
    ...showRaw(file),
    app: showAppSummary(state, reader),
  })
  return { names: files.flatMap(namesOf), show: () => files.map(show) }
}

function namesOf({ created_by, updated_by }: FileRow): number[] {
  return [created_by, updated_by ?? 0]
}

async function loadMarks(files: FileRow[], { sql, by }: Served<'by'> & { sql: Db }): Promise<OwnMarks> {
  if (by.kind !== 'user' || files.length === 0) return noMarks
  const ids = files.map(({ id }) => id)
  const starred = files.some(({ star_count }) => star_count > 0) ? findStarred(sql, by.user, ids) : noMarks.starred
  const [mine, subscribed] = await Promise.all([starred, findSubscribed(sql, by.user, ids)])
  return { starred: mine, subscribed }
}
