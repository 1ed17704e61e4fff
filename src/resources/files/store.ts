import { batch, batchOfIds } from '../../postgres/batch.ts'
import type { Page } from '../../api/page.ts'
import type { Db, Fragment } from '../../postgres/sql.ts'
import { hasLetters } from '../../postgres/word-search.ts'
import { isSearch } from '../content/lists/search.ts'
import type { FileRow } from './schema.ts'

export const orderFields = ['id', 'name', 'size', 'created_at', 'updated_at'] as const
export type OrderField = (typeof orderFields)[number]

export const insertFile = batch<FileRow>({
  name: 'insert_files',
  columns: {
    id: 'bigint',
    app_id: 'bigint',
    parent_type: 'text',
    parent_id: 'bigint',
    rev: 'bigint',
    name: 'text',
    size: 'bigint',
    metadata: 'jsonb',
    tags: 'text[]',
    created_at: 'timestamptz',
    created_by: 'bigint',
  },
  sql: (rows, columns) => `insert into files (${columns}) select ${columns} from ${rows} r`,
})

/** Updates the changeable columns of files. */
export const updateFile = batch<FileRow>({
  name: 'update_files',
  columns: {
    id: 'bigint',
    rev: 'bigint',
    name: 'text',
    size: 'bigint',
    metadata: 'jsonb',
    tags: 'text[]',
    version_count: 'int',
    updated_at: 'timestamptz',
    updated_by: 'bigint',
    trashed_at: 'timestamptz',
  },
  key: row => row.id,
  sql: rows => `
    update files f set rev = r.rev, name = r.name, size = r.size, metadata = r.metadata, tags = r.tags,
      version_count = r.version_count, updated_at = r.updated_at, updated_by = r.updated_by, trashed_at = r.trashed_at
    from ${rows} r where f.id = r.id`,
})

/** Removes files with all their versions. Their bytes go when nothing else uses them. */
export const removeFile = batchOfIds('remove_files', rows => `delete from files f using ${rows} r where f.id = r.id`)

/** `select … from files f`, as FileRow. Served by the primary keys of file_versions and blobs. */
function selectFiles(db: Db): Fragment {
  return db`
    select f.*, to_jsonb(b) - '{created_at,checked_at}'::text[] as blob
    from files f
    join file_versions v on v.file_id = f.id and v.rev = f.rev
    join blobs b on b.id = v.blob_id`
}

export async function findFile(db: Db, id: number): Promise<FileRow | null> {
  const [row] = await db<FileRow[]>`${selectFiles(db)} where f.id = ${id}`
  return row ?? null
}

/** As findFile, with the head rev of the app at that moment: later events may have changed the file, earlier ones have. */
export async function findFileWithHead(db: Db, id: number): Promise<(FileRow & { head_rev: number }) | null> {
  const [row] = await db<(FileRow & { head_rev: number })[]>`
    select f.*, a.head_rev from (${selectFiles(db)} where f.id = ${id}) f join apps a on a.id = f.app_id`
  return row ?? null
}

/** Files by id; deleted ones are missing. */
export async function findFiles(db: Db, ids: readonly number[]): Promise<Map<number, FileRow>> {
  const rows = await db<FileRow[]>`${selectFiles(db)} where f.id = any(${ids as number[]}::bigint[])`
  return new Map(rows.map(row => [row.id, row]))
}

/** The file of an app with this name now. Served by files_name. */
export async function findByName(db: Db, app: number, name: string): Promise<FileRow | null> {
  const [row] = await db<FileRow[]>`
    ${selectFiles(db)}
    where f.app_id = ${app} and fold_name(f.name) = fold_name(${name}) and f.parent_id is null and f.trashed_at is null`
  return row ?? null
}

/** The attachments of items, oldest first; no entry for items without any. Served by files_parent. */
export async function listAttachments(db: Db, items: number[]): Promise<Map<number, FileRow[]>> {
  const rows = await db<FileRow[]>`
    ${selectFiles(db)} where f.parent_id = any(${items}::bigint[]) order by f.parent_id, f.id`
  return Map.groupBy(rows, file => file.parent_id!)
}

/** A file as its app's archive needs it. */
export interface ArchivedFile {
  id: number
  name: string
  key: string
  media_type: string
  changed_at: Date
}

/** The files of an app's archive: without external ones, by id, after `after`. Served by files_app. */
export function listForArchive(db: Db, app: number, after: number, limit: number): Promise<ArchivedFile[]> {
  return db<ArchivedFile[]>`
    select f.id, f.name, b.key, b.media_type, f.changed_at
    from files f
    join file_versions v on v.file_id = f.id and v.rev = f.rev
    join blobs b on b.id = v.blob_id
    where f.app_id = ${app} and f.parent_id is null and f.trashed_at is null and b.key is not null and f.id > ${after}
    order by f.app_id, f.id limit ${limit}`
}

/**
 * Up to this many apps are searched one by one: 60 ms, and 500 ms for 2,000. With more, all files are searched at once.
 */
export const searchedApps = 500

/** The files that a list covers, and whose trash it may show. */
export interface FileScope {
  /** Null: all. */
  apps: number[] | null
  /** Apps whose trashed files the caller may restore; null: all. */
  writable: number[] | null
  /** Lists the attachments of this item instead. */
  parent?: number
  /** Only files by this user. */
  createdBy?: number
}

export async function countFiles(db: Db, where: Fragment): Promise<number> {
  const [total] = await db<{ count: number }[]>`select count(*) as count from files f where ${where}`
  return total?.count ?? 0
}

export function toFilter(db: Db, { apps, writable, parent, createdBy }: FileScope, page: Page): Fragment {
  const { trashed } = page
  const mine = writable === null ? db`true` : db`f.app_id = any(${writable}::bigint[])`
  return db`${parent === undefined ? db`f.parent_id is null` : db`f.parent_id = ${parent}`}
    ${parent === undefined ? isFoundIn(db, apps, page) : isFound(db, page)}
    ${createdBy === undefined ? db`` : db`and f.created_by = ${createdBy}`}
    ${trashed === false ? db`and f.trashed_at is null` : db``}
    ${trashed === true ? db`and f.trashed_at is not null and ${mine}` : db``}
    ${trashed === null ? db`and (f.trashed_at is null or ${mine})` : db``}`
}

/**
 * Files of files apps that match. Served by files_search alone: beside a condition on the app, PostgreSQL may read all
 * its files. In many apps, or all, served by files_search_all.
 */
function isFoundIn(db: Db, apps: number[] | null, page: Page): Fragment {
  const { words, tags } = toAsked(page)
  if (words === null && tags.length === 0) return apps === null ? db`and ${isInUse(db)}` : isIn(db, apps)
  if (isSearch(apps, page, searchedApps)) {
    return db`and search_terms(f.app_id, f.name, f.tags) @@ (select search_query(${apps}::bigint[], ${words}, ${tags}))`
  }
  // As arrays, because PostgreSQL may otherwise go through all files of the apps, or all apps for each file.
  return db`
    and f.id = any(array(
      select s.id from files s
      where s.parent_id is null and search_terms(0, s.name, s.tags) @@ (select search_query('{0}', ${words}, ${tags}))))
    and ${apps === null ? isInUse(db) : db`(f.app_id in (select unnest(${apps}::bigint[])) is true)`}`
}

/** For API keys: for others, readable apps are listed first. Served by apps_hidden. */
function isInUse(db: Db): Fragment {
  return db`not exists (
    select from apps a where a.id = f.app_id and (a.trashed_at is not null or a.deleted_at is not null))`
}

/** The attachments of one item that match, checked one by one. */
function isFound(db: Db, page: Page): Fragment {
  const { words, tags } = toAsked(page)
  return words === null && tags.length === 0
    ? db``
    : db`and search_terms(0, f.name, f.tags) @@ (select search_query('{0}', ${words}, ${tags}))`
}

/** Ignores symbols in `q`. */
function toAsked({ q, tags }: Page): { words: string | null; tags: string[] } {
  return { words: q !== undefined && hasLetters(q) ? q : null, tags }
}

/** One app is no equation, from which PostgreSQL would conclude that the order is by id alone: see `isWithin`. */
function isIn(db: Db, apps: number[]): Fragment {
  return apps.length === 1
    ? db`and f.app_id >= ${apps[0]!} and f.app_id <= ${apps[0]!}`
    : db`and f.app_id = any(${apps}::bigint[])`
}
