import type { Principal } from '../../../auth/principal.ts'
import type { Db, Fragment } from '../../../postgres/sql.ts'
import { hasWords } from '../../../postgres/word-search.ts'

/** Apps that are asked one by one what they are called, where somebody is in no more. Measured: 15 ms. */
const askedApps = 1_000

/** Apps, or people, that are gone out from where no more are found. A guess. */
const fewFound = 2_000

/** Words of `q` of which the rarest is looked for among people: the longest ones. */
const comparedWords = 5

export interface Called {
  isCalled: Fragment
  /** It names a few apps by their ids. */
  isFew: boolean
}

/**
 * A condition on `a`, a row of apps, and `m`, the caller's membership: each word of `q` is the beginning of a word of
 * what the app is called for the caller. Of what names are made of, nothing is kept but the words of given names and of
 * people, each in an index of its own row; so there is nothing that could be outdated.
 *
 * Where the words are rare, some ms. Otherwise each of the caller's apps is looked at: 3 to 10 µs for each.
 */
export async function toCalled(db: Db, q: string, by: Principal): Promise<Called> {
  // Expecting next to nothing of a pattern, PostgreSQL would go through all apps first; of this, it expects half.
  const hasThem = db`coalesce(${hasWords(db, nameFor(db, by), q)}, false)`
  if (by.kind === 'user' && !(await hasMany(db, by.user))) return { isCalled: hasThem, isFew: false }
  const [named, unnamed] = await Promise.all([findNamed(db, q), findUnnamed(db, q, by)])
  if (named !== null && unnamed !== null) {
    const found = db`any(${[...named, ...unnamed]}::bigint[])`
    // Said of both tables: otherwise PostgreSQL may go through all memberships of the caller.
    const isOwn = by.kind === 'key' ? db`` : db`and m.app_id = ${found}`
    return { isCalled: db`(a.id = ${found} ${isOwn} and ${hasThem})`, isFew: true }
  }
  const isAmong = (ids: number[] | null) => (ids === null ? db`true` : db`a.id = any(${ids}::bigint[])`)
  const isAmongThem = db`case when a.name is null then ${isAmong(unnamed)} else ${isAmong(named)} end`
  return { isCalled: db`(${isAmongThem} and ${hasThem})`, isFew: false }
}

/** What naming.ts derives, in SQL: a text, empty where an app has no name. */
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
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from (select from members where user_id = ${user} limit ${askedApps + 1}) m`
  return row!.count > askedApps
}

/** Apps whose given names may have all words; null where they are many. Served by apps_search. */
async function findNamed(db: Db, q: string): Promise<number[] | null> {
  const rows = await db<{ id: number }[]>`
    select id from apps where name is not null and name_terms(name) @@ name_query(${q}, true, true)
    limit ${fewFound + 1}`
  return toFew(rows.map(({ id }) => id))
}

/**
 * Apps without a given name in which somebody has the rarest of the words in theirs, some more than once; null where they
 * are many. The caller counts where nobody else is in it. Served by members_user.
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
 * Those who have the rarest of the words in their names; null where they are many. Commas are passed over: in names of
 * apps they stand between people. Served by users_names.
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
