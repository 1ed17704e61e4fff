import type { Db, Sql } from '../../postgres/sql.ts'

/** An arbitrary fixed number: of concurrent requests one counts, and the others use the last count. */
const countingLock = 7_213_005

/** How long a count is reused. */
const validMs = 3_600_000

/** Counts the storage that files take, at most once an hour: only when an administrator asks. */
export async function countStorage(sql: Sql, now: Date): Promise<void> {
  const [last] = await sql<{ counted_at: Date | null }[]>`select max(counted_at) as counted_at from storage_totals`
  if (last?.counted_at && now.getTime() - last.counted_at.getTime() < validMs) return
  await sql.begin(async tx => {
    const [turn] = await tx<{ is_mine: boolean }[]>`select pg_try_advisory_xact_lock(${countingLock}) as is_mine`
    if (!turn!.is_mine) return
    await tx`delete from storage_totals`
    await tx`
      insert into storage_totals (app_id, files, bytes, counted_at)
      select v.app_id, count(*), coalesce(sum(b.size), 0), ${now}
      from file_versions v join blobs b on b.id = v.blob_id group by v.app_id`
  })
}

interface StorageTotal {
  counted_at: Date | null
  files: number
  bytes: number
}

export async function sumTotals(db: Db): Promise<StorageTotal> {
  const [row] = await db<StorageTotal[]>`
    select max(counted_at) as counted_at, coalesce(sum(files), 0)::bigint as files,
      coalesce(sum(bytes), 0)::bigint as bytes
    from storage_totals`
  return row!
}

interface AppStorage {
  app_id: number
  uid: string | null
  name: string | null
  type: string | null
  files: number
  bytes: number
}

/** The apps whose files take most storage. Sorted each time, one row per app with files. */
export function listTotals(db: Db, limit: number): Promise<AppStorage[]> {
  return db<AppStorage[]>`
    select t.app_id, a.uid, a.name, a.type, t.files, t.bytes
    from storage_totals t left join apps a on a.id = t.app_id
    order by t.bytes desc, t.app_id limit ${limit}`
}
