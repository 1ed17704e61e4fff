import type { Principal } from '../../auth/principal.ts'
import type { AppRow, MemberRow } from '../../engine/state.ts'
import type { Db, Fragment, Sql, Tx } from '../../postgres/sql.ts'
import { batchLoads } from '../../postgres/batch-loads.ts'

/**
 * The app with this uid for the caller: the caller's own agent chat, or any app of another type; for an API key a
 * user's agent chat, where there is no other app. Served by apps_uid and apps_agent_chat_uid. Null where there is none.
 */
export async function findAppId(db: Db, uid: string, by: Principal): Promise<number | null> {
  return (await findNamed(db, uid, by))?.id ?? null
}

/** As findAppId, with the app's rev. */
export async function findNamed(db: Db, uid: string, by: Principal): Promise<NamedApp | null> {
  const [app] = await listNamed(db, [uid], by)
  return app ?? null
}

interface NamedApp {
  id: number
  head_rev: number
}

/** The apps that have these uids, in no order. */
export function listNamed(db: Db, uids: string[], by: Principal): Promise<NamedApp[]> {
  return db<NamedApp[]>`select id, head_rev from (${selectNamed(db, uids, by)}) a`
}

/** The ids of the apps that `findAppId` finds, by uid as it is given; no entry for one that no app has. */
export async function findAppIds(db: Db, uids: string[], by: Principal): Promise<Map<string, number>> {
  const found = await db<{ given: string; id: number }[]>`
    select given, a.id from unnest(${uids}::text[]) given
    join (${selectNamed(db, uids, by)}) a on a.uid = fold_name(given)`
  return new Map(found.map(({ given, id }) => [given, id]))
}

/** A query for the apps that have these uids, with `uid` folded. */
function selectNamed(db: Db, uids: string[], by: Principal): Fragment {
  const own = by.kind === 'key' ? db`true` : db`owner_id = ${by.user}`
  const isNamed = db`fold_name(uid) = any(array(select fold_name(u) from unnest(${uids}::text[]) u)) and deleted_at is null`
  // A union, because one condition for both fits neither index: 35 ms instead of 0.1 among 100,000 apps.
  return db`
    select distinct on (uid) uid, id, head_rev from (
      select id, head_rev, fold_name(uid) as uid, case when owner_id = ${by.user} then 1 else 3 end as rank from apps
      where ${isNamed} and type = 'agent_chat' and ${own}
      union all
      select id, head_rev, fold_name(uid), 2 from apps
      where ${isNamed} and type <> 'agent_chat'
    ) a
    order by uid, rank, id`
}

/** True where another app has the uid and the app may not share it: agent chats of two users may. */
export async function isUidTaken(db: Db, app: number, uid: string): Promise<boolean> {
  const rows = await db`
    select from apps own, lateral (
      select id from apps
      where fold_name(uid) = fold_name(${uid}) and deleted_at is null and type <> 'agent_chat'
      union all
      select id from apps
      where fold_name(uid) = fold_name(${uid}) and deleted_at is null and type = 'agent_chat'
        and (own.type <> 'agent_chat' or owner_id = own.owner_id)
    ) other
    where own.id = ${app} and fold_name(own.uid) is distinct from fold_name(${uid})`
  return rows.length > 0
}

export type NewAppRow = Pick<
  AppRow,
  | ('type' | 'uid' | 'name' | 'description' | 'metadata' | 'tags' | 'access' | 'directory_id' | 'picture_id')
  | ('is_joinable' | 'owner_id' | 'rev' | 'head_rev' | 'created_at' | 'created_by')
> & { pair: string | null }

/** Refused by the indexes apps_uid, apps_agent_chat_uid and apps_pair. */
export async function insertApp(tx: Tx, row: NewAppRow): Promise<AppRow> {
  return (await insertApps(tx, [row])).get(row)!
}

/** Inserts the apps that one transaction makes within a tick, in one statement. */
const insertApps = batchLoads<NewAppRow, AppRow>(async (sql, rows) => {
  const made = await sql<AppRow[]>`
    insert into apps (type, uid, name, description, metadata, tags, access, directory_id, picture_id, is_joinable, pair,
      owner_id, rev, head_rev, created_at, created_by)
    select type, free_uid(uid, null, type), name, description, metadata, tags, access, directory_id,
      picture_id, is_joinable, pair, owner_id, rev, head_rev, created_at, created_by
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as r(
      type text, uid text, name text, description text, metadata jsonb, tags text[], access text, directory_id bigint,
      picture_id bigint, is_joinable boolean, pair text, owner_id bigint, rev bigint, head_rev bigint,
      created_at timestamptz, created_by bigint)
    returning *`
  const byRev = new Map(made.map(app => [app.rev, app]))
  return new Map(rows.map(row => [row, byRev.get(row.rev)!]))
})

/** A condition on `a`, a row of apps: it has had content. A user may be in any number of empty apps. */
export function hasContent(sql: Sql): Fragment {
  return sql`a.made_count > 0`
}

type NewMemberRow = Pick<MemberRow, 'app_id' | 'user_id' | 'access' | 'joined_rev'>

/** Inserts the members of the apps that one transaction makes within a tick, in one statement. */
export const insertMembers = batchLoads<NewMemberRow, true>(async (sql, rows) => {
  await sql`
    insert into members (app_id, user_id, access, joined_rev)
    select app_id, user_id, access, joined_rev
    from unnest(${rows.map(row => row.app_id)}::bigint[], ${rows.map(row => row.user_id)}::bigint[],
      ${rows.map(row => row.access)}::text[], ${rows.map(row => row.joined_rev)}::bigint[]
    ) r(app_id, user_id, access, joined_rev)`
  return new Map()
})

/** The pair of users whose private chat an app is; null for any other app. */
export async function findPairOf(db: Db, app: number): Promise<string | null> {
  const [row] = await db<{ pair: string | null }[]>`select pair from apps where id = ${app}`
  return row?.pair ?? null
}

/**
 * The id of the private chat of two users. Waits for a concurrent transaction that makes it; the first caller makes it.
 * Served by apps_pair.
 */
export async function findPair(tx: Db, pair: string): Promise<number | null> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${pair}, 7213002))`
  const [row] = await tx<{ id: number }[]>`
    select id from apps where pair = ${pair} and deleted_at is null and trashed_at is null`
  return row?.id ?? null
}
