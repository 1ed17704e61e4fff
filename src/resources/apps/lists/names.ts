import type { Principal } from '../../../auth/principal.ts'
import { countRows, type Db, type Fragment } from '../../../postgres/sql.ts'
import { hasWords } from '../../../postgres/word-search.ts'

/** Up to this many apps of a user are searched one by one. Measured: 15 ms. */
const askedApps = 1_000

/** A search starts from apps or users where at most this many match. A guess. */
const fewFound = 2_000

/** The longest words of `q`, of which the rarest is looked up among users. */
const comparedWords = 5

export interface Called {
  isCalled: Fragment
  /** True where it selects a few apps by id. */
  isFew: boolean
}

/**
 * A condition on `a`, a row of apps, and `m`, the caller's membership: each word of `q` begins a word of the app's
 * title for the caller. Only the words of given names and of users' names are indexed, each with its own row, so
 * nothing can become outdated.
 *
 * Rare words take some milliseconds. Otherwise each of the caller's apps is checked: 3 to 10 µs each.
 */
export async function toCalled(db: Db, q: string, by: Principal): Promise<Called> {
  // PostgreSQL expects a pattern to match next to nothing, and would go through all apps first; of this expression it
  // expects half to match.
  const hasThem = db`coalesce(${hasWords(db, nameFor(db, by), q)}, false)`
  if (by.kind === 'user' && !(await hasMany(db, by.user))) return { isCalled: hasThem, isFew: false }
  const [named, unnamed] = await Promise.all([findNamed(db, q), findUnnamed(db, q, by)])
  if (named !== null && unnamed !== null) {
    const found = db`any(${[...named, ...unnamed]}::bigint[])`
    // A condition on both tables: otherwise PostgreSQL may go through all memberships of the caller.
    const isOwn = by.kind === 'key' ? db`` : db`and m.app_id = ${found}`
    return { isCalled: db`(a.id = ${found} ${isOwn} and ${hasThem})`, isFew: true }
  }
  const isAmong = (ids: number[] | null) => (ids === null ? db`true` : db`a.id = any(${ids}::bigint[])`)
  const isAmongThem = db`case when a.name is null then ${isAmong(unnamed)} else ${isAmong(named)} end`
  return { isCalled: db`(${isAmongThem} and ${hasThem})`, isFew: false }
}

/** The title of an app as SQL, as naming.ts derives it; empty where the app has none. */
export function nameFor(db: Db, by: Principal): Fragment {
  const names = (who: Fragment) => db`(
    select left(string_agg(coalesce(u.display_name, 'Deleted user'), ', ' order by n.joined_rev), 256)
    from members n left join users u on u.id = n.user_id
    where n.app_id = a.id and n.access is not null and ${who})`
  const others = names(db`n.user_id <> ${by.user}`)
  return db`coalesce(a.name, case when a.type in ('private_chat', 'chat_room') then
    coalesce(${others}, ${names(db`true`)}) end, '')`
}

/** Served by members_user. */
async function hasMany(db: Db, user: number): Promise<boolean> {
  return (await countRows(db, db`select from members where user_id = ${user} limit ${askedApps + 1}`)) > askedApps
}

/** Apps whose given names may contain all words; null where they are many. Served by apps_search. */
async function findNamed(db: Db, q: string): Promise<number[] | null> {
  const rows = await db<{ id: number }[]>`
    select id from apps where name is not null and name_terms(name) @@ name_query(${q}, true, true)
    limit ${fewFound + 1}`
  return toFew(rows.map(({ id }) => id))
}

/**
 * Apps without a given name in which a user has the rarest of the words in the name, some repeatedly; null where they
 * are many. The caller counts in an app without other members. Served by members_user.
 */
async function findUnnamed(db: Db, q: string, { user }: Principal): Promise<number[] | null> {
  const people = await findPeople(db, q)
  if (people === null) return null
  const rows = await db<{ id: number }[]>`
    select n.app_id as id from members n join apps p on p.id = n.app_id
    where n.user_id = any(${people}::bigint[]) and n.access is not null
      and p.name is null and p.type in ('private_chat', 'chat_room')
      and (n.user_id <> ${user} or not exists (
        select from members o where o.app_id = n.app_id and o.user_id <> ${user} and o.access is not null))
    limit ${fewFound + 1}`
  return toFew(rows.map(({ id }) => id))
}

/**
 * Users with the rarest of the words in their names; null where they are many. Commas, which separate names in titles,
 * are ignored. Served by users_names.
 */
async function findPeople(db: Db, q: string): Promise<number[] | null> {
  const words = q.split(/\s+/).toSorted((a, b) => b.length - a.length)
  const query = db`name_query(translate(fold(word), ',', ' '), true, true)`
  const rows = await db<{ people: number[] }[]>`
    select people from unnest(${words.slice(0, comparedWords)}::text[]) word cross join lateral (
      select array(
        select u.id from users u where name_terms(u.display_name) @@ ${query}
        union all
        select d.id from deleted_users d where name_terms('Deleted user') @@ ${query}
        limit ${fewFound + 1}
      ) as people
    ) p
    order by cardinality(people) limit 1`
  return toFew(rows[0]!.people)
}

function toFew(ids: number[]): number[] | null {
  return ids.length <= fewFound ? ids : null
}
