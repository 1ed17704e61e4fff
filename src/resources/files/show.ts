import { toPagedList, type Page } from '../../storage/page.ts'
import { namesakes } from '../apps/naming.ts'
import { showAppSummary } from '../apps/represent.ts'
import { findStarred } from '../stars/store.ts'
import { findSubscribed } from '../subscriptions/store.ts'
import type { Caller } from './find.ts'
import { noMarks, showFile, type OwnMarks } from './represent.ts'
import type { FileRow } from './schema.ts'

type Request = Caller & { origin: string }

/** One file, with everybody it names brought into memory. */
export async function showWhole(file: FileRow, request: Request): Promise<object> {
  const [shown] = await showAll([file], request)
  return shown!
}

export async function showPage(
  { rows, count }: { rows: FileRow[]; count: number },
  page: Page,
  request: Request,
): Promise<object> {
  return toPagedList(page, count, await showAll(rows, request))
}

async function showAll(files: FileRow[], request: Request): Promise<object[]> {
  const { apps, people, by } = request
  const states = new Map(
    await Promise.all(
      [...new Set(files.map(file => file.app_id))].map(async id => [id, await apps.state(id)] as const),
    ),
  )
  const marks = await loadMarks(files, request)
  const names = files.flatMap(({ created_by, updated_by }) => [created_by, updated_by ?? 0])
  await people.load([by.user, ...names, ...[...states.values()].flatMap(namesakes)])
  return files.map(file => ({
    ...showFile(file, request, marks),
    app: showAppSummary(states.get(file.app_id)!, request),
  }))
}

async function loadMarks(files: FileRow[], { sql, by }: Request): Promise<OwnMarks> {
  if (by.kind !== 'user' || files.length === 0) return noMarks
  const ids = files.map(({ id }) => id)
  const starred = files.some(({ star_count }) => star_count > 0) ? findStarred(sql, by.user, ids) : noMarks.starred
  const [mine, subscribed] = await Promise.all([starred, findSubscribed(sql, by.user, ids)])
  return { starred: mine, subscribed }
}
