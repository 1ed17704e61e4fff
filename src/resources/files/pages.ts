import { fromNearerEnd, orderBy } from '../../postgres/order.ts'
import type { OrderKey, Page } from '../../api/page.ts'
import type { Db, Fragment } from '../../postgres/sql.ts'
import { listById } from '../content/lists/by-id.ts'
import type { Listed } from '../content/lists/positions/place.ts'
import type { FileRow } from './schema.ts'
import { countFiles, findFiles, toFilter, type FileScope, type OrderField } from './store.ts'

interface FilePage {
  rows: FileRow[]
  count: number
}

const columns: Record<OrderField, string> = {
  id: 'f.id',
  name: 'f.sort_name',
  size: 'f.size',
  created_at: 'f.created_at',
  updated_at: 'f.changed_at',
}

/** Up to this many apps are merged, file by file; beyond, all files are sorted. A guess. */
const mergedApps = 100
const mergedFiles = 1_000

/** A page of files of files apps, or of attachments, and the total. */
export async function listFiles(db: Db, scope: FileScope, page: Page<OrderField>): Promise<FilePage> {
  if (scope.parent !== undefined) return listSorted(db, scope, page)
  const isSearch = isFiltered(scope, page)
  if (isSearch && scope.apps === null) return listSorted(db, scope, page)
  const apps = await listHolding(db, scope)
  const narrow = { ...scope, apps: idsOf(apps) }
  if (isSearch) return listSorted(db, narrow, page)
  const count = apps.reduce((sum, app) => sum + countIn(app, page.trashed, scope), 0)
  if (page.countOnly || page.skip >= count) return { rows: [], count }
  if (apps.length === 1) return { rows: await listOfApp(db, narrow, toSeen(page, narrow), count), count }
  if (apps.length <= mergedApps && page.skip + page.take <= mergedFiles) {
    return { rows: await mergeApps(db, narrow, page), count }
  }
  return listSorted(db, narrow, page, count)
}

function isFiltered({ createdBy }: FileScope, { q, tags }: Page<OrderField>): boolean {
  return q !== undefined || tags.length > 0 || createdBy !== undefined
}

interface Holding {
  id: number
  item_count: number
  trashed_count: number
}

/** The files apps in use that have or had files. Served by apps_type. */
function listHolding(db: Db, { apps }: FileScope): Promise<Holding[]> {
  return db<Holding[]>`
    select id, item_count, trashed_count from apps
    where type = 'files' and made_count > 0 and trashed_at is null and deleted_at is null
      ${apps === null ? db`` : db`and id = any(${apps}::bigint[])`}`
}

/** The number of listed files of an app: visible ones, trashed ones that the caller may restore, or both. */
function countIn({ id, item_count, trashed_count }: Holding, trashed: boolean | null, { writable }: FileScope): number {
  const restorable = writable === null || writable.includes(id) ? trashed_count : 0
  if (trashed === null) return item_count + restorable
  return trashed ? restorable : item_count
}

/** Callers who may not restore files see visible ones only. */
function toSeen(page: Page<OrderField>, { writable }: FileScope): Page<OrderField> {
  return writable?.length === 0 ? { ...page, trashed: false } : page
}

/**
 * A page of all files of an app: by id at any depth, served by files_app; otherwise walked to from the nearer end.
 * Served by files_by_name and the like, which have all columns needed; the app is part of the order, because PostgreSQL
 * may otherwise walk over other apps' files.
 */
async function listOfApp(db: Db, scope: FileScope, page: Page<OrderField>, count: number): Promise<FileRow[]> {
  const { order, skip, take, trashed } = page
  const { field, descending } = order[0]!
  if (field === 'id') {
    const kept = trashed === null ? 'all' : trashed ? 'trashed' : 'visible'
    const listed: Listed = { table: 'files', place: { app: scope.apps![0]!, parent: null }, shown: { kept } }
    const rows = await listById(db, listed, { range: {}, skipped: 0, count, skip, take, descending })
    return listInOrder(db, idsOf(rows))
  }
  const walk = fromNearerEnd(page, count)
  const ids = await listIds(db`
    select f.id from files f where ${toFilter(db, scope, page)}
    ${byApp(db, walk.order)}
    limit ${walk.limit} offset ${walk.offset}`)
  return listInOrder(db, walk.restore(ids))
}

function byApp(db: Db, order: OrderKey<OrderField>[]): Fragment {
  return orderBy(db, [{ field: 'app', descending: order[0]!.descending }, ...order], { ...columns, app: 'f.app_id' })
}

/** The most files that the page can take of each app. Served by files_by_name and the like. */
async function mergeApps(db: Db, scope: FileScope, page: Page<OrderField>): Promise<FileRow[]> {
  const ids = await listIds(db`
    select f.id from unnest(${scope.apps!}::bigint[]) as a(app_id) cross join lateral (
      select * from files f
      where f.app_id >= a.app_id and f.app_id <= a.app_id and ${toFilter(db, { ...scope, apps: null }, page)}
      ${byApp(db, page.order)} limit ${page.skip + page.take}
    ) f
    ${orderBy(db, page.order, columns)} limit ${page.take} offset ${page.skip}`)
  return listInOrder(db, ids)
}

/** A page of matching files, sorted; `kept`: the total where it is known. */
async function listSorted(db: Db, scope: FileScope, page: Page<OrderField>, kept?: number): Promise<FilePage> {
  const where = toFilter(db, scope, page)
  const count = kept ?? (await countFiles(db, where))
  if (page.countOnly || page.skip >= count) return { rows: [], count }
  // Matching files are sorted: if PostgreSQL saw the limit, it might walk over all files until it has enough.
  const fence = isFiltered(scope, page) ? db`offset 0` : db``
  const ids = await listIds(db`
    select f.id from (select f.* from files f where ${where} ${fence}) f
    ${orderBy(db, page.order, columns)} limit ${page.take} offset ${page.skip}`)
  return { rows: await listInOrder(db, ids), count }
}

async function listIds(query: Fragment): Promise<number[]> {
  return idsOf((await query) as unknown as { id: number }[])
}

function idsOf(rows: { id: number }[]): number[] {
  return rows.map(({ id }) => id)
}

/** Only the files of the page are read whole. Files deleted meanwhile are missing. */
async function listInOrder(db: Db, ids: number[]): Promise<FileRow[]> {
  const files = await findFiles(db, ids)
  return ids.flatMap(id => files.get(id) ?? [])
}
