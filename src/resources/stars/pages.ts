import type { Page } from '../../api/page.ts'
import { fromNearerEnd } from '../../postgres/order.ts'
import { countRows, type Db, type Fragment } from '../../postgres/sql.ts'
import { hasVisibleParent } from '../content/commented.ts'
import type { StarredType } from './schema.ts'

/** The data that decides which stars a user still sees. */
interface Reach {
  user: number
  /** The starred apps that the user may read, each with the newest id hidden from the user. */
  apps: { id: number; hidden_id: number | null }[]
}

/** Up to this many stars, each is checked for visibility; beyond, invisible ones are found at once. A guess. */
const askedLimit = 2_000

/** Apps in which a user starred items, or that the user starred. Served by stars_order and members_starred. */
export function selectStarredApps(db: Db, user: number): Fragment {
  return db`
    select app_id from stars where user_id = ${user}
    union select app_id from members where user_id = ${user} and starred_at is not null`
}

/**
 * A page of a user's visible stars, newest first, walked to from the nearer end. Served by stars_order and
 * members_starred.
 */
export async function listStars(
  db: Db,
  reach: Reach,
  { skip, take, countOnly }: Pick<Page, 'skip' | 'take' | 'countOnly'>,
): Promise<{ stars: { id: number; type: StarredType }[]; count: number }> {
  const { user } = reach
  const asked = await countRows(db, db`select from stars where user_id = ${user} limit ${askedLimit + 1}`)
  const { sets, apps, items } = selectSeen(db, reach, asked > askedLimit)
  const [total] = await db<{ count: number }[]>`
    ${sets} select (select count(*) from (${apps}) a) + (select count(*) from (${items}) i) as count`
  const count = total!.count
  if (countOnly || skip >= count) return { stars: [], count }
  const order = [{ field: 'created_at', descending: true }]
  const near = fromNearerEnd({ order, skip, take }, count)
  const direction = near.order[0]!.descending ? db`desc` : db`asc`
  const stars = await db<{ id: number; type: StarredType }[]>`
    ${sets}
    select id, type from (
      ${apps}
      union all
      (${items} order by s.created_at ${direction}, s.entity_id ${direction} limit ${near.offset + near.limit})
    ) s
    order by created_at ${direction}, id ${direction} limit ${near.limit} offset ${near.offset}`
  return { stars: near.restore(Array.from(stars)), count }
}

/** `select type, id, created_at`: starred apps and visible starred items; with `sets`. */
function selectSeen(db: Db, { user, apps }: Reach, areMany: boolean): Record<'sets' | 'apps' | 'items', Fragment> {
  const ids = apps.map(({ id }) => id)
  const readable = db`with readable as materialized (select unnest(${ids}::bigint[]) as app_id)`
  const isReadable = db`app_id in (select app_id from readable)`
  const isSeen = areMany ? db`s.entity_id not in (select id from hidden)` : db`not ${isHidden(db)}`
  return {
    sets: areMany ? db`${readable}, hidden as materialized (${selectHidden(db)})` : readable,
    apps: db`
      select 'app' as type, app_id as id, starred_at as created_at from members
      where user_id = ${user} and starred_at is not null and ${isReadable}`,
    items: db`
      select s.entity_type as type, s.entity_id as id, s.created_at from stars s
      where s.user_id = ${user} and s.${isReadable} and ${isSeen} ${isLeft(db, apps)}`,
  }
}

/** Without items that the user removed with a chat. */
function isLeft(db: Db, apps: Reach['apps']): Fragment {
  const removed = apps.filter(({ hidden_id }) => hidden_id !== null)
  if (removed.length === 0) return db``
  const [ids, hidden] = [removed.map(({ id }) => id), removed.map(({ hidden_id }) => hidden_id)]
  return db`and not exists (
    select from unnest(${ids}::bigint[], ${hidden}::bigint[]) as r(app_id, hidden_id)
    where r.app_id = s.app_id and r.hidden_id >= coalesce((select parent_id from files where id = s.entity_id), s.entity_id))`
}

/**
 * A condition on `s`, a row of stars: its target is in the trash, or its parent is. Targets are looked up one by one: for
 * `exists`, PostgreSQL may gather all that is in the trash, 350,000 pages where that is a million messages.
 */
function isHidden(db: Db): Fragment {
  const inTrash = (table: string, id: Fragment) =>
    db`coalesce((select t.trashed_at is not null from ${db(table)} t where t.id = ${id}), false)`
  const isHiddenComment = (id: Fragment) =>
    db`exists (select from comments t where t.id = ${id} and not (t.trashed_at is null and ${hasVisibleParent(db)}))`
  return db`
    case s.entity_type
      when 'message' then ${inTrash('messages', db`s.entity_id`)}
      when 'post' then ${inTrash('posts', db`s.entity_id`)}
      when 'comment' then ${isHiddenComment(db`s.entity_id`)}
      else exists (
        select from files f where f.id = s.entity_id and (
          f.trashed_at is not null
          or f.parent_type = 'message' and ${inTrash('messages', db`f.parent_id`)}
          or f.parent_type = 'post' and ${inTrash('posts', db`f.parent_id`)}
          or f.parent_type = 'comment' and ${isHiddenComment(db`f.parent_id`)}))
      end`
}

/** The ids of all starred items in the trash. Served by messages_hidden_star and the like. */
function selectHidden(db: Db): Fragment {
  return db`
    select id from messages where trashed_at is not null and star_count > 0
    union all select id from posts where trashed_at is not null and star_count > 0
    union all select id from comments where trashed_at is not null and star_count > 0
    union all select id from files where trashed_at is not null and star_count > 0
    union all
    select id from comments t where t.star_count > 0 and t.parent_id is not null and not ${hasVisibleParent(db)}
    union all
    select f.id from files f where f.star_count > 0 and f.parent_id is not null and (
      f.parent_id in (
        select id from messages where trashed_at is not null
        union all select id from posts where trashed_at is not null
        union all select id from comments where trashed_at is not null)
      or f.parent_type = 'comment' and exists (
        select from comments t where t.id = f.parent_id and not ${hasVisibleParent(db)}))`
}
