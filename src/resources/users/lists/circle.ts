import { cachedQuery } from '../../../postgres/cached-query.ts'
import type { Principal } from '../../../auth/principal.ts'
import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'
import { countShown, type ShownBy } from './shown.ts'
import { fewLimit, isOfFew, isSeenOneByOne, isVisibleTo, matesOf } from '../visible.ts'

/**
 * How long the set of users with a common app may be reused: gathering 250,000 users of 20,000 apps takes 0.6 s. The
 * set shown by directories is gathered again when a membership changes.
 */
const rememberedMs = 30_000

/** The most cached sets of each kind: 125 KB each, where a million users were ever made. A guess. */
const rememberedSets = 100

/** Ids per number in PostgreSQL. */
const wordBits = 32

/**
 * True where a user can see few users: queries then start from that user, and otherwise check each user. Costs no more
 * than reading `fewLimit` users.
 */
export async function seesFew(db: Db, user: number): Promise<boolean> {
  const [row] = await db<{ sees_few: boolean }[]>`
    select exists (select from directory_members d where d.user_id = ${user})
      and (select count(*) from (${matesOf(db, user)} limit ${fewLimit + 1}) m) <= ${fewLimit} as sees_few`
  return row!.sees_few
}

/** A condition on `u`, a row of users: the caller can see it. `isNarrow`: for few rows, each checked by itself. */
export async function toVisible(db: Db, by: Principal, isNarrow: boolean): Promise<{ isSeen: Fragment }> {
  if (by.kind === 'key') return { isSeen: db`true` }
  if (isNarrow) return { isSeen: isVisibleTo(db, by) }
  if (await seesFew(db, by.user)) return { isSeen: isOfFew(db, by.user) }
  return toCircle(db as Sql, by.user, (await countShown(db, by.user)).by)
}

/**
 * A condition on `u`, a row of users: the user can see it, by the rules of `isSeenOneByOne`. For lists that go through
 * many rows: visible users are gathered once, as a bitmap by id, and looked up in 0.1 µs. Newer ids are checked one by
 * one.
 */
export async function toCircle(sql: Sql, user: number, shownBy: ShownBy): Promise<{ isSeen: Fragment }> {
  const bits = unite(await gatherMates(sql, user), await gatherShown(sql, shownBy))
  // Not a column of the row, so that an index alone serves all others.
  const isAgent = sql`(select o.is_agent from users o where o.id = u.id)`
  return {
    isSeen: sql`case when u.id between 1 and ${bits.length * 8 - 1} and u.id <> ${user} then get_bit(${bits}::bytea, u.id) > 0
    else ${isSeenOneByOne(sql, user, isAgent)} end`,
  }
}

/** The number of users with a common app whom no directory shows. */
export const countMates = cachedQuery(
  rememberedMs,
  async (sql: Sql, { user, ...shownBy }: ShownBy & { user: number }) => {
    const mates = await gatherMates(sql, user)
    if (mates.length === 0) return 0
    return countOnly(mates, await gatherShown(sql, shownBy), user)
  },
)

/** Users with a common app, without trashed ones. Agents are visible by directories alone. */
const gatherMates = cachedQuery(
  rememberedMs,
  (sql: Sql, user: number) =>
    gather(
      sql,
      sql`
        select b.user_id from members a join apps p on p.id = a.app_id join members b on b.app_id = a.app_id
        where a.user_id = ${user} and a.access <> 'none' and b.access <> 'none'
          and p.trashed_at is null and p.deleted_at is null and b.user_id >= 1
          and b.user_id not in (select u.id from users u where u.is_agent)
          and b.user_id not in (select u.id from users u where u.trashed_at is not null)
          and b.user_id not in (select d.id from deleted_users d)`,
    ),
  rememberedSets,
)

/** Members of directories, or, where there are none, all users in none; and agents in none. */
const gatherShown = cachedQuery(
  rememberedMs,
  async (sql: Sql, { directories }: ShownBy): Promise<Uint8Array> => {
    if (directories.length === 0) {
      const inSome = await gather(sql, sql`select d.user_id from directory_members d`)
      return inSome.map(byte => ~byte)
    }
    return gather(
      sql,
      sql`
        select d.user_id from directory_members d where d.directory_id = any(${directories}::bigint[])
        union all
        select u.id from users u
        where u.is_agent and not exists (select from directory_members d where d.user_id = u.id)`,
    )
  },
  rememberedSets,
)

/** A bitmap of all ids so far, but for up to seven of the newest: set where the id is among `ids`. */
async function gather(sql: Sql, ids: Fragment): Promise<Uint8Array> {
  const [row] = await sql<[{ places: string; words: string; id_limit: number }]>`
    select coalesce(string_agg(place::text, ','), '') as places, coalesce(string_agg(word::text, ','), '') as words,
      (select coalesce(max(id), 0) + 1 from users) as id_limit
    from (
      select id / ${wordBits} as place, bit_or(1::bigint << (id % ${wordBits})::int) as word from (${ids}) s(id) group by 1
    ) w`
  const words = new Uint32Array(Math.ceil(row.id_limit / wordBits) + 1)
  const numbers = row.words.split(',')
  if (row.places !== '') row.places.split(',').forEach((place, at) => (words[Number(place)] = Number(numbers[at])))
  return new Uint8Array(words.buffer, 0, Math.floor(row.id_limit / 8))
}

/** The union of two bitmaps of different lengths. */
function unite(one: Uint8Array, other: Uint8Array): Buffer {
  const all = Buffer.alloc(Math.min(one.length, other.length))
  for (let at = 0; at < all.length; at++) all[at] = one[at]! | other[at]!
  return all
}

/** The number of ids in `bits` that are not in `others`, without `id`. */
function countOnly(bits: Uint8Array, others: Uint8Array, id: number): number {
  let count = 0
  for (let at = 0; at < bits.length; at++) {
    let byte = bits[at]! & ~(others[at] ?? 0)
    if (at === id >> 3) byte &= ~(1 << (id & 7))
    for (; byte > 0; byte &= byte - 1) count++
  }
  return count
}
