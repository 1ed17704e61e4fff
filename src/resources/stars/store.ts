import { batch, batchOfIds } from '../../postgres/batch.ts'
import type { Db } from '../../postgres/sql.ts'
import type { StarRow } from './schema.ts'

export const insertStar = batch<StarRow>({
  name: 'insert_stars',
  columns: {
    user_id: 'bigint',
    entity_id: 'bigint',
    entity_type: 'text',
    app_id: 'bigint',
    created_at: 'timestamptz',
  },
  sql: (rows, columns) => `insert into stars (${columns}) select ${columns} from ${rows} r`,
})

export const removeStar = batch<Pick<StarRow, 'user_id' | 'entity_id'>>({
  name: 'remove_stars',
  columns: { user_id: 'bigint', entity_id: 'bigint' },
  sql: rows => `delete from stars t using ${rows} r where t.user_id = r.user_id and t.entity_id = r.entity_id`,
})

/** Removes all stars of deleted items. Served by stars_entity. */
export const removeStarsOf = batchOfIds(
  'remove_stars_of',
  rows => `delete from stars t using ${rows} r where t.entity_id = r.id`,
)

/** The items among some that a user starred. Served by the primary key. */
export async function findStarred(db: Db, user: number, entities: number[]): Promise<Set<number>> {
  const rows = await db<{ entity_id: number }[]>`
    select entity_id from stars where user_id = ${user} and entity_id = any(${entities}::bigint[])`
  return new Set(rows.map(row => row.entity_id))
}
