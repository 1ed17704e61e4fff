import { batch, batchOfIds } from '../../../postgres/batch.ts'
import type { Db, Fragment } from '../../../postgres/sql.ts'
import type { VersionRow } from '../schema.ts'

export const insertVersion = batch({
  name: 'insert_file_versions',
  columns: {
    file_id: 'bigint',
    rev: 'bigint',
    app_id: 'bigint',
    blob_id: 'bigint',
    created_at: 'timestamptz',
    created_by: 'bigint',
  },
  sql: (rows, columns) => `insert into file_versions (${columns}) select ${columns} from ${rows} r`,
})

export const removeVersion = batch({
  name: 'remove_file_versions',
  columns: { file_id: 'bigint', rev: 'bigint' },
  key: row => `${row.file_id}:${row.rev}`,
  sql: rows => `delete from file_versions v using ${rows} r where v.file_id = r.file_id and v.rev = r.rev`,
})

export const removeVersionsOf = batchOfIds(
  'remove_file_versions_of',
  rows => `delete from file_versions v using ${rows} r where v.file_id = r.id`,
)

/** Some versions of a file, newest first. Served by the primary key. */
export function listVersions(
  db: Db,
  file: number,
  { skip, take }: { skip: number; take: number },
): Promise<VersionRow[]> {
  const some = db`(
    select * from file_versions where file_id = ${file} order by rev desc limit ${take} offset ${skip})`
  return db<VersionRow[]>`${selectVersions(db, some)} order by v.rev desc`
}

export async function findVersion(db: Db, file: number, rev: number): Promise<VersionRow | null> {
  const [row] = await db<VersionRow[]>`
    ${selectVersions(db, db`file_versions`)} where v.file_id = ${file} and v.rev = ${rev}`
  return row ?? null
}

/** `select … from file_versions v`, or some of these, as VersionRow. Served by the primary key of blobs. */
function selectVersions(db: Db, some: Fragment): Fragment {
  return db`
    select v.file_id, v.rev, v.app_id, v.created_at, v.created_by,
      to_jsonb(b) - '{created_at,checked_at}'::text[] as blob
    from ${some} v join blobs b on b.id = v.blob_id`
}
