import { cachedQuery } from '../../../postgres/cached-query.ts'
import type { Fragment, Sql } from '../../../postgres/sql.ts'
import type { ShownBy } from './shown.ts'
import { isSeenOneByOne } from '../visible.ts'

/**
 * How long it may be answered again who is in an app with a user: to gather 250,000 people of 20,000 apps takes 0.6 s.
 * Whom directories show is gathered anew when somebody has joined or left them.
 */
const rememberedMs = 30_000

/** Sets of people that are remembered of each kind: 125 KB each where a million users were ever made. A guess. */
const rememberedSets = 100

/** Ids that PostgreSQL puts into one number. */
const wordBits = 32

/**
 * A condition on `u`, a row of users: the user can see it, by the rules of `isSeenOneByOne`. For lists that go through
 * many rows: who is seen is gathered once, as a bit for each id, and looked up in 0.1 µs. Ids that were given since then
 * are asked one by one.
 */
export async function toCircle(sql: Sql, user: number, shownBy: ShownBy): Promise<{ isSeen: Fragment }> {
  const bits = unite(await gatherMates(sql, user), await gatherShown(sql, shownBy))
  // Not a column of the row, so that an index is enough for all others.
  const isAgent = sql`(select o.is_agent from users o where o.id = u.id)`
  return {
    isSeen: sql`case when u.id between 1 and ${bits.length * 8 - 1} and u.id <> ${user} then get_bit(${bits}::bytea, u.id) > 0
    else ${isSeenOneByOne(sql, user, isAgent)} end`,
  }
}

/** How many people are in an app with the user whom no directory shows. */
export function countMates(sql: Sql, user: number, { directories, state }: ShownBy): Promise<number> {
  return countMatesOf(sql, { user, directories, state })
}

const countMatesOf = cachedQuery(rememberedMs, async (sql: Sql, { user, ...shownBy }: ShownBy & { user: number }) => {
  const mates = await gatherMates(sql, user)
  if (mates.length === 0) return 0
  return countOnly(mates, await gatherShown(sql, shownBy), user)
})

/** People who are in an app with the user, without those in the trash. Agents show themselves by directories alone. */
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

/** Members of directories, or all who are in none, where there are no directories; and the agents in none. */
const gatherShown = cachedQuery(
  rememberedMs,
  async (sql: Sql, { directories }: ShownBy): Promise<Uint8Array> => {
    if (directories.length === 0) return invert(await gather(sql, sql`select d.user_id from directory_members d`))
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

/** A bit for each id that there is by now, but for the newest up to seven; one where it is among `ids`. */
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

function invert(bits: Uint8Array): Uint8Array {
  return bits.map(byte => ~byte)
}

/** Bits that are in one of two; where one is longer, the other has nothing to say. */
function unite(one: Uint8Array, other: Uint8Array): Buffer {
  const all = Buffer.alloc(Math.min(one.length, other.length))
  for (let at = 0; at < all.length; at++) all[at] = one[at]! | other[at]!
  return all
}

/** How many ids are in `bits`, and not in `others`, without one of them. */
function countOnly(bits: Uint8Array, others: Uint8Array, id: number): number {
  let count = 0
  for (let at = 0; at < bits.length; at++) {
    let byte = bits[at]! & ~(others[at] ?? 0)
    if (at === id >> 3) byte &= ~(1 << (id & 7))
    for (; byte > 0; byte &= byte - 1) count++
  }
  return count
}
