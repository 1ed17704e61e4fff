import { batch } from '../../storage/batch.ts'
import type { Db, Fragment, Sql } from '../../storage/sql.ts'
import { hasVisibleParent } from '../comments/store.ts'
import type { StarRow, StarredType } from './schema.ts'

export const insertStar = batch<StarRow>({
  name: 'insert_stars',
  columns: {
    user_id: 'bigint',
    entity_id: 'bigint',
    entity_type: 'text',
    app_id: 'bigint',
    created_at: 'timestamptz',
  },
  sql: rows => `
    insert into stars (user_id, entity_id, entity_type, app_id, created_at)
    select user_id, entity_id, entity_type, app_id, created_at from ${rows} r`,
})

export const removeStar = batch<Pick<StarRow, 'user_id' | 'entity_id'>>({
  name: 'remove_stars',
  columns: { user_id: 'bigint', entity_id: 'bigint' },
  sql: rows => `delete from stars t using ${rows} r where t.user_id = r.user_id and t.entity_id = r.entity_id`,
})

/** Removes everybody's stars of what goes. Served by stars_entity. */
export const removeStarsOf = batch<{ id: number }>({
  name: 'remove_stars_of',
  columns: { id: 'bigint' },
  key: row => row.id,
  sql: rows => `delete from stars t using ${rows} r where t.entity_id = r.id`,
})

/** Those of some entities that a user starred. Served by the primary key. */
export async function findStarred(db: Db, user: number, entities: number[]): Promise<Set<number>> {
  const rows = await db<{ entity_id: number }[]>`
    select entity_id from stars where user_id = ${user} and entity_id = any(${entities}::bigint[])`
  return new Set(rows.map(row => row.entity_id))
}

/** What is looked at to tell which stars a user still sees. */
export interface Sight {
  user: number
  /** The apps that the user may read, each with the newest id that is hidden from them there. */
  apps: { id: number; hidden_id: number | null }[]
}

interface Range {
  skip: number
  take: number
  countOnly: boolean
}

/** A page of what a user starred and still sees, newest star first. Served by the primary key and members_starred. */
export async function listStars(
  sql: Sql,
  sight: Sight,
  { skip, take, countOnly }: Range,
): Promise<{ stars: { id: number; type: StarredType }[]; count: number }> {
  const from = toSource(sql, sight)
  const [total] = await sql<{ count: number }[]>`${from} select count(*) as count from seen`
  const count = total?.count ?? 0
  if (countOnly || skip >= count) return { stars: [], count }
  const stars = await sql<{ id: number; type: StarredType }[]>`
    ${from} select id, type from seen order by created_at desc, id desc limit ${take} offset ${skip}`
  return { stars: Array.from(stars), count }
}

/** Stars whose app may be read and whose target is neither in the trash nor hidden with what it belongs to. */
function toSource(sql: Sql, { user, apps }: Sight): Fragment {
  const ids = apps.map(({ id }) => id)
  const hidden = apps.map(({ hidden_id }) => hidden_id ?? 0)
  const item = sql`coalesce(f.parent_id, s.id)`
  const isVisible = (table: string) =>
    sql`exists (select from ${sql(table)} t where t.id = ${item} and t.trashed_at is null)`
  return sql`
    with readable as (select * from unnest(${ids}::bigint[], ${hidden}::bigint[]) as r(app_id, hidden_id)),
    starred as (
      select 'app' as type, app_id as id, app_id, starred_at as created_at
      from members where user_id = ${user} and starred_at is not null
      union all
      select entity_type, entity_id, app_id, created_at from stars where user_id = ${user}
    ),
    seen as (
      select s.* from starred s
      join readable r on r.app_id = s.app_id
      left join files f on s.type = 'file' and f.id = s.id
      where case coalesce(f.parent_type, s.type)
        when 'app' then true
        when 'file' then f.trashed_at is null and f.id is not null
        when 'message' then ${item} > r.hidden_id and ${isVisible('messages')}
        when 'post' then ${isVisible('posts')}
        when 'comment' then exists (
          select from comments t where t.id = ${item} and t.trashed_at is null and ${hasVisibleParent(sql)})
        end
    )`
}
