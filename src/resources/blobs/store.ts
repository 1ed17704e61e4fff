import type { Db } from '../../postgres/sql.ts'
import type { Principal } from '../../auth/principal.ts'
import type { BlobRow } from './schema.ts'

export type NewBlobRow = Omit<BlobRow, 'id'>

/** Registers the bytes of an upload, which are removed if it never finishes. */
export async function insertOrphanedBytes(db: Db, key: string, since: Date): Promise<void> {
  await db`insert into orphaned_bytes (key, since) values (${key}, ${since})`
}

/** Inserts a blob, which now owns its bytes. */
export async function insertBlob(db: Db, row: NewBlobRow): Promise<BlobRow> {
  const { raw, ...columns } = row
  const json = raw === null ? null : JSON.stringify(raw)
  const [inserted] = await db<BlobRow[]>`
    with taken as (delete from orphaned_bytes where key = ${row.key})
    insert into blobs (name, media_type, size, width, height, image, key, secret, provider, link, download, embed,
      raw, created_at, created_by, checked_at)
    values (${columns.name}, ${columns.media_type}, ${columns.size}, ${columns.width}, ${columns.height},
      ${columns.image}, ${columns.key}, ${columns.secret}, ${columns.provider}, ${columns.link}, ${columns.download},
      ${columns.embed}, ${json}::text::jsonb, ${columns.created_at}, ${columns.created_by}, ${columns.created_at})
    returning *`
  return inserted!
}

/** The bytes of a user's uploads. Served by blobs_created_by. */
export async function sumSizes(db: Db, user: number): Promise<number> {
  const [row] = await db<[{ bytes: number }]>`
    select coalesce(sum(size), 0)::bigint as bytes from blobs where created_by = ${user} and key is not null`
  return row.bytes
}

export async function findBlob(db: Db, id: number): Promise<BlobRow | null> {
  const [row] = await db<BlobRow[]>`select * from blobs where id = ${id}`
  return row ?? null
}

/** True where a blob is used, and only by apps that are in the trash or deleted. Served by the indexes on its users. */
export async function isInTrash(db: Db, id: number): Promise<boolean> {
  const [row] = await db<{ is_gone: boolean | null }[]>`
    select bool_and(is_gone) as is_gone from (
      select a.trashed_at is not null or a.deleted_at is not null as is_gone
      from file_versions v join files f on f.id = v.file_id join apps a on a.id = f.app_id where v.blob_id = ${id}
      union all
      select trashed_at is not null or deleted_at is not null from apps where picture_id = ${id}
      union all
      select false from users where picture_id = ${id}
      union all
      select false from embeds where image_id = ${id}
    ) used`
  return row!.is_gone ?? false
}

/** Blobs by id; deleted ones are missing. */
export async function listBlobs(db: Db, ids: number[]): Promise<Map<number, BlobRow>> {
  if (ids.length === 0) return new Map()
  const rows = await db<BlobRow[]>`select * from blobs where id = any(${ids}::bigint[])`
  return new Map(rows.map(row => [row.id, row]))
}

/** Blobs with stored bytes, by id, after `after`. Served by the primary key. */
export async function listStoredBlobs(
  db: Db,
  after: number,
  limit: number,
): Promise<{ id: number; key: string; size: number }[]> {
  return db<{ id: number; key: string; size: number }[]>`
    select id, key, size from blobs where id > ${after} and key is not null order by id limit ${limit}`
}

/** The blobs that the caller may use: the caller's own, or any with an API key. Defers their removal by some days. */
export async function claimBlobs(db: Db, ids: number[], by: Principal, now: Date): Promise<Map<number, BlobRow>> {
  const rows = await db<BlobRow[]>`
    update blobs set checked_at = ${now}
    where id = any(${ids}::bigint[]) and (${by.kind === 'key'} or created_by = ${by.user})
    returning *`
  return new Map(rows.map(row => [row.id, row]))
}

/**
 * Of the blobs not checked since `before`, deletes unused ones and defers the others. A concurrent use is protected by
 * its foreign key. Returns how many were checked.
 */
export async function removeIdleBlobs(db: Db, before: Date, now: Date, limit: number): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    with old as (
      select id from blobs where checked_at < ${before} order by checked_at limit ${limit} for update skip locked
    ), idle as (
      select id from old o
      where not exists (select from file_versions v where v.blob_id = o.id)
        and not exists (select from apps a where a.picture_id = o.id)
        and not exists (select from users u where u.picture_id = o.id)
        and not exists (select from embeds e where e.image_id = o.id)
    ), gone as (
      delete from blobs b using idle i where b.id = i.id returning b.key
    ), orphaned as (
      insert into orphaned_bytes (key, since) select key, '-infinity' from gone where key is not null
    ), kept as (
      update blobs b set checked_at = ${now} from old o where b.id = o.id and o.id not in (select id from idle)
    )
    select count(*) as count from old`
  return row!.count
}

/**
 * An arbitrary fixed number: locked while a backup reads the bytes of blobs that may have been deleted since it began.
 */
const orphanedBytesLock = 7_213_005

/** Keeps the bytes of deleted blobs until this connection ends. */
export async function holdOrphanedBytes(db: Db): Promise<void> {
  await db`select pg_advisory_lock_shared(${orphanedBytesLock})`
}

/**
 * True where a backup holds orphaned bytes. Ask after these were listed: a backup that begins later does not contain their
 * blobs.
 */
export async function areOrphanedBytesHeld(db: Db): Promise<boolean> {
  const [row] = await db<{ is_free: boolean }[]>`select pg_try_advisory_xact_lock(${orphanedBytesLock}) as is_free`
  return !row!.is_free
}

/** Keys of bytes without a blob since `before`. Served by orphaned_bytes_age. */
export async function listOrphanedBytes(db: Db, before: Date, limit: number): Promise<string[]> {
  const rows = await db<{ key: string }[]>`
    select key from orphaned_bytes where since < ${before} order by since limit ${limit}`
  return rows.map(({ key }) => key)
}

export async function removeOrphanedBytes(db: Db, keys: string[]): Promise<void> {
  await db`delete from orphaned_bytes where key = any(${keys})`
}

/** The secret that signs links to a user's picture; null where the user does not exist. */
export async function findUserSecret(db: Db, id: number): Promise<string | null> {
  const [row] = await db<{ secret: string }[]>`select secret from users where id = ${id}`
  return row?.secret ?? null
}

/** The secret that signs links to an app's picture; null where the app does not exist, or is in the trash. */
export async function findAppSecret(db: Db, id: number): Promise<string | null> {
  const [row] = await db<{ secret: string }[]>`
    select secret from apps where id = ${id} and deleted_at is null and trashed_at is null`
  return row?.secret ?? null
}
