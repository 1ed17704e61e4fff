import { batch } from '../../storage/batch.ts'
import { orderBy } from '../../storage/order.ts'
import type { Page } from '../../storage/page.ts'
import type { Db, Fragment } from '../../storage/sql.ts'
import { toTsQuery } from '../../storage/words.ts'
import type { CountChange } from '../content/store.ts'
import type { FileRow, VersionRow } from './schema.ts'

export const orderFields = ['id', 'name', 'size', 'created_at', 'updated_at'] as const
export type OrderField = (typeof orderFields)[number]

const orderColumns: Record<OrderField, string> = {
  id: 'f.id',
  name: 'lower(f.name)',
  size: 'b.size',
  created_at: 'f.created_at',
  updated_at: 'coalesce(f.updated_at, f.created_at)',
}

export const insertFile = batch<FileRow>({
  name: 'insert_files',
  columns: {
    id: 'bigint',
    app_id: 'bigint',
    parent_type: 'text',
    parent_id: 'bigint',
    rev: 'bigint',
    name: 'text',
    metadata: 'jsonb',
    tags: 'text[]',
    created_at: 'timestamptz',
    created_by: 'bigint',
  },
  sql: rows => `
    insert into files (id, app_id, parent_type, parent_id, rev, name, metadata, tags, created_at, created_by)
    select id, app_id, parent_type, parent_id, rev, name, metadata, tags, created_at, created_by from ${rows} r`,
})

/** Writes what may change of files that exist. */
export const updateFile = batch<FileRow>({
  name: 'update_files',
  columns: {
    id: 'bigint',
    rev: 'bigint',
    name: 'text',
    metadata: 'jsonb',
    tags: 'text[]',
    version_count: 'int',
    updated_at: 'timestamptz',
    updated_by: 'bigint',
    trashed_at: 'timestamptz',
  },
  key: row => row.id,
  sql: rows => `
    update files f set rev = r.rev, name = r.name, metadata = r.metadata, tags = r.tags,
      version_count = r.version_count, updated_at = r.updated_at, updated_by = r.updated_by, trashed_at = r.trashed_at
    from ${rows} r where f.id = r.id`,
})

/** Removes files with all their versions. Their bytes go when nothing else uses them. */
export const removeFile = batch<{ id: number }>({
  name: 'remove_files',
  columns: { id: 'bigint' },
  key: row => row.id,
  sql: rows => `delete from files f using ${rows} r where f.id = r.id`,
})

export const removeVersionsOf = batch<{ id: number }>({
  name: 'remove_file_versions_of',
  columns: { id: 'bigint' },
  key: row => row.id,
  sql: rows => `delete from file_versions v using ${rows} r where v.file_id = r.id`,
})

export interface NewVersion {
  file_id: number
  rev: number
  app_id: number
  blob_id: number
  created_at: Date
  created_by: number
}

export const insertVersion = batch<NewVersion>({
  name: 'insert_file_versions',
  columns: {
    file_id: 'bigint',
    rev: 'bigint',
    app_id: 'bigint',
    blob_id: 'bigint',
    created_at: 'timestamptz',
    created_by: 'bigint',
  },
  sql: rows => `
    insert into file_versions (file_id, rev, app_id, blob_id, created_at, created_by)
    select file_id, rev, app_id, blob_id, created_at, created_by from ${rows} r`,
})

export const removeVersion = batch<{ file_id: number; rev: number }>({
  name: 'remove_file_versions',
  columns: { file_id: 'bigint', rev: 'bigint' },
  key: row => `${row.file_id}:${row.rev}`,
  sql: rows => `delete from file_versions v using ${rows} r where v.file_id = r.file_id and v.rev = r.rev`,
})

/** Moves counts; rows of one flush are added up, as a statement changes a row only once. */
export const changeCounts = batch<CountChange>({
  name: 'change_counts_files',
  columns: { id: 'bigint', reactions: 'int', comments: 'int', stars: 'int' },
  sql: rows => `
    update files f set comment_count = comment_count + r.comments, star_count = star_count + r.stars
    from (select id, sum(comments) as comments, sum(stars) as stars from ${rows} x group by id) r
    where f.id = r.id`,
})

/** `select … from files f`, as FileRow. Served by the primary keys of file_versions and blobs. */
function selectFiles(db: Db): Fragment {
  return db`
    select f.*, to_jsonb(b) - '{created_at,checked_at}'::text[] as blob
    from files f join file_versions v on v.file_id = f.id and v.rev = f.rev join blobs b on b.id = v.blob_id`
}

export async function findFile(db: Db, id: number): Promise<FileRow | null> {
  const [row] = await db<FileRow[]>`${selectFiles(db)} where f.id = ${id}`
  return row ?? null
}

/** Files by id; those that are gone are missing. */
export async function findFiles(db: Db, ids: readonly number[]): Promise<Map<number, FileRow>> {
  const rows = await db<FileRow[]>`${selectFiles(db)} where f.id = any(${ids as number[]}::bigint[])`
  return new Map(rows.map(row => [row.id, row]))
}

/** The file of an app that has a name now. Served by files_name. */
export async function findByName(db: Db, app: number, name: string): Promise<FileRow | null> {
  const [row] = await db<FileRow[]>`
    ${selectFiles(db)}
    where f.app_id = ${app} and lower(f.name) = lower(${name}) and f.parent_id is null and f.trashed_at is null`
  return row ?? null
}

/** The attachments of some items, oldest first. Served by files_parent. */
export function listByParent(db: Db, parents: readonly number[]): Promise<FileRow[]> {
  return db<FileRow[]>`
    ${selectFiles(db)} where f.parent_id = any(${parents as number[]}::bigint[]) order by f.parent_id, f.id`
}

/** What of an app goes into its archive: content that is kept here. */
export function listForArchive(db: Db, app: number): Promise<FileRow[]> {
  return db<FileRow[]>`
    ${selectFiles(db)}
    where f.app_id = ${app} and f.parent_id is null and f.trashed_at is null and b.key is not null
    order by lower(f.name), f.id`
}

/** Where lists look, and whose trash they show. */
export interface FileScope {
  /** Null for all. */
  apps: number[] | null
  /** Apps whose trashed files the caller may restore; null for all. */
  writable: number[] | null
  /** The item whose attachments are listed, instead of files of files apps. */
  parent?: number
}

/** A page of files of files apps, or of attachments, and how many there are in all; `known` where that was kept. */
export async function listFiles(
  db: Db,
  scope: FileScope,
  page: Page<OrderField>,
  known?: number,
): Promise<{ rows: FileRow[]; count: number }> {
  const where = toFilter(db, scope, page)
  const count = known ?? (await countFiles(db, where))
  if (page.countOnly || page.skip >= count) return { rows: [], count }
  const rows = await db<FileRow[]>`
    ${selectFiles(db)} where ${where} ${orderBy(db, page.order, orderColumns)} limit ${page.take} offset ${page.skip}`
  return { rows, count }
}

async function countFiles(db: Db, where: Fragment): Promise<number> {
  const [total] = await db<{ count: number }[]>`select count(*) as count from files f where ${where}`
  return total?.count ?? 0
}

function toFilter(db: Db, { apps, writable, parent }: FileScope, { trashed, tags, q }: Page): Fragment {
  const query = toTsQuery(q, true)
  const mine = writable === null ? db`true` : db`f.app_id = any(${writable}::bigint[])`
  return db`${parent === undefined ? db`f.parent_id is null` : db`f.parent_id = ${parent}`}
    ${apps === null ? db`` : db`and f.app_id = any(${apps}::bigint[])`}
    ${trashed === false ? db`and f.trashed_at is null` : db``}
    ${trashed === true ? db`and f.trashed_at is not null and ${mine}` : db``}
    ${trashed === null ? db`and (f.trashed_at is null or ${mine})` : db``}
    ${tags.length === 0 ? db`` : db`and f.tags && ${tags}`}
    ${query === null ? db`` : db`and to_tsvector('simple', fold(translate(f.name, '._-', '   '))) @@ ${query}::tsquery`}`
}

/** The versions of a file, newest first. Served by the primary key. */
export function listVersions(db: Db, file: number): Promise<VersionRow[]> {
  return db<VersionRow[]>`
    select v.file_id, v.rev, v.app_id, v.created_at, v.created_by,
      to_jsonb(b) - '{created_at,checked_at}'::text[] as blob
    from file_versions v join blobs b on b.id = v.blob_id
    where v.file_id = ${file} order by v.rev desc`
}

export async function findVersion(db: Db, file: number, rev: number): Promise<VersionRow | null> {
  const [row] = await db<VersionRow[]>`
    select v.file_id, v.rev, v.app_id, v.created_at, v.created_by,
      to_jsonb(b) - '{created_at,checked_at}'::text[] as blob
    from file_versions v join blobs b on b.id = v.blob_id
    where v.file_id = ${file} and v.rev = ${rev}`
  return row ?? null
}
