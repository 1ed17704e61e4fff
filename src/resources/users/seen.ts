import { fromNearerEnd } from '../../storage/order.ts'
import type { Page } from '../../storage/page.ts'
import { remembered } from '../../storage/remembered.ts'
import type { Db, Fragment, Sql } from '../../storage/sql.ts'
import { countAll } from './crowd.ts'
import { selectUserIds, toOthers, type PersonOrder } from './user-ids.ts'
import { fewLimit, findExtent, visibleTo } from './visible.ts'
import type { Principal } from '../../actors/principal.ts'

/**
 * How long the number of people who are known to a user through very many apps, or through apps with very many members, may
 * be answered again. Counting 100,000 takes 0.15 s; it decides nothing but a total.
 */
const rememberedMs = 30_000

/** Rows of an index that are asked one by one whether the caller can see them, 10 µs each; a guess. */
const walkedLimit = 10_000

/**
 * A page of the ids of all people whom a user can see, or of all but the agents, and how many they are. Null where these
 * are few, or users are: they are gathered then.
 */
export async function listSeen(
  db: Db,
  by: Principal,
  agent: false | undefined,
  page: Page<PersonOrder>,
): Promise<{ ids: number[]; count: number } | null> {
  const users = await countAll(db)
  if (users <= fewLimit || (await findExtent(db, by)) === 'few') return null
  const seen = await countSeen(db, by.user)
  const count = agent === false ? seen.people : seen.people + seen.agents
  if (page.countOnly || page.skip >= count) return { ids: [], count }
  const { offset, limit } = fromNearerEnd(page, count)
  const isWalked = ((offset + limit) * users) / count < walkedLimit
  const isSeen = isWalked ? isSeenOneByOne(db, by.user) : visibleTo(db, by, 'many')
  return {
    ids: await selectUserIds(db, db`${isSeen} and u.id >= 1 ${toOthers(db, by, page, agent)}`, page, count),
    count,
  }
}

/** How many people and agents a user can see, by the rules of `visibleTo`; those in the trash do not count. */
interface Seen {
  people: number
  agents: number
}

/**
 * The numbers of those whom a user can see. Whom directories show is kept (directory_counts); mates, who are in an app with
 * the user, are counted beside them, at most every 30 s for one user.
 */
async function countSeen(db: Db, user: number): Promise<Seen> {
  const [shown, mates] = await Promise.all([countShown(db, user), countMates(db as Sql, user)])
  return { people: shown.people + mates, agents: shown.agents }
}

/** Members of the user's directories, or all who are in none where the user is in none; and the agents in none. */
async function countShown(db: Db, user: number): Promise<Seen> {
  const directories = await db<{ directory_id: number }[]>`
    select directory_id from directory_members where user_id = ${user} order by directory_id`
  const mine = directories.length === 0 ? [0] : directories.map(({ directory_id }) => directory_id)
  const kept = await db<{ directory_id: number; is_agent: boolean; count: number }[]>`
    select directory_id, is_agent, sum(count)::bigint as count from (
      select directory_id, is_agent, count from directory_counts
      union all select directory_id, is_agent, added from directory_count_changes
    ) c
    where directory_id = any(${[0, ...mine]}::bigint[]) group by directory_id, is_agent`
  const sumOf = (of: number[], isAgent: boolean) =>
    kept.reduce((sum, row) => (of.includes(row.directory_id) && row.is_agent === isAgent ? sum + row.count : sum), 0)
  const twice = mine.length > 1 ? await countTwice(db as Sql, mine) : { people: 0, agents: 0 }
  const agentsIn = directories.length === 0 ? [0] : [0, ...mine]
  return { people: sumOf(mine, false) - twice.people, agents: sumOf(agentsIn, true) - twice.agents }
}

/** How often members of these directories are counted beyond once. */
const countTwice = remembered(rememberedMs, async (sql: Sql, directories: number[]): Promise<Seen> => {
  const [row] = await sql<[{ people: number; agents: number }]>`
    select coalesce(sum(extra) filter (where not is_agent), 0)::bigint as people,
      coalesce(sum(extra) filter (where is_agent), 0)::bigint as agents
    from (
      select u.is_agent, count(*) - 1 as extra from directory_members d join users u on u.id = d.user_id
      where d.directory_id = any(${directories}::bigint[]) and u.trashed_at is null
      group by u.id having count(*) > 1
    ) s`
  return row
})

/** People in an app with the user whom no directory shows. Agents with directories show themselves to these alone. */
const countMates = remembered(rememberedMs, async (sql: Sql, user: number): Promise<number> => {
  const [row] = await sql<[{ count: number }]>`
    with mine as materialized (select directory_id from directory_members where user_id = ${user}),
    mates as materialized (
      select distinct b.user_id
      from members a join apps p on p.id = a.app_id join members b on b.app_id = a.app_id
      where a.user_id = ${user} and a.access <> 'none' and b.access <> 'none'
        and p.trashed_at is null and p.deleted_at is null and b.user_id >= 1 and b.user_id <> ${user}
    )
    select count(*) as count from mates m
    where not exists (select from users u where u.id = m.user_id and u.trashed_at is not null)
      and not exists (select from users u where u.id = m.user_id and u.is_agent)
      and not exists (select from deleted_users d where d.id = m.user_id)
      and case when exists (select from mine)
        then not exists (select from directory_members d where d.user_id = m.user_id and d.directory_id in (select directory_id from mine))
        else exists (select from directory_members d where d.user_id = m.user_id) end`
  return row.count
})

/**
 * A condition on `u`, a row of users that an index is walked over: the user can see it. Asked of each row by itself; the
 * scalar subqueries keep PostgreSQL from gathering everybody first, who may be a million.
 */
function isSeenOneByOne(db: Db, user: number): Fragment {
  const isIn = (who: Fragment) => db`exists (select from directory_members d where d.user_id = ${who} limit 1)`
  const sharesDirectory = db`coalesce((
    select true from directory_members a join directory_members b on b.directory_id = a.directory_id
    where b.user_id = u.id and a.user_id = ${user} limit 1), false)`
  const sharesApp = db`coalesce((
    select true from members b join members a on a.app_id = b.app_id join apps p on p.id = b.app_id
    where b.user_id = u.id and a.user_id = ${user} and a.access <> 'none' and b.access <> 'none'
      and p.trashed_at is null and p.deleted_at is null limit 1), false)`
  return db`(
    u.id = any(array[${user}, 0, -1]::bigint[])
    or (u.is_agent or not ${isIn(db`${user}`)}) and not coalesce((
      select true from directory_members d where d.user_id = u.id limit 1), false)
    or ${sharesDirectory}
    or not u.is_agent and ${sharesApp})`
}

/** Changes that are added up in one statement: some ms of them. */
export const addedUpAtOnce = 10_000

/** Adds changes to the numbers that are kept of directories; says how many. Any number of nodes may do it at once. */
export async function addUpDirectoryCounts(sql: Sql): Promise<number> {
  const [row] = await sql<[{ changes: number }]>`
    with gone as (
      delete from directory_count_changes where ctid = any(array(
        select ctid from directory_count_changes limit ${addedUpAtOnce} for update skip locked))
      returning directory_id, is_agent, added
    ), kept as (
      insert into directory_counts as d
      select directory_id, is_agent, sum(added) from gone group by 1, 2 order by 1, 2
      on conflict (directory_id, is_agent) do update set count = d.count + excluded.count
    )
    select count(*) as changes from gone`
  return row.changes
}
