import { cachedQuery } from '../../../postgres/cached-query.ts'
import type { Db, Sql } from '../../../postgres/sql.ts'
import { countAll } from './crowd.ts'

/** How long the number of users in several of a user's directories may be reused: nothing but a total depends on it. */
const rememberedMs = 30_000

/** The numbers of users and agents that directories show to a user, without trashed ones. */
export interface Shown {
  people: number
  agents: number
  by: ShownBy
}

/** What decides which users are visible to a user: equal for all with equal directories. */
export interface ShownBy {
  /** Empty: all users in no directory are visible. */
  directories: number[]
  /** Numbers that change with the members. A user who joins while another leaves, within 30 s, goes unnoticed. */
  state: number[]
}

/**
 * Counts the members of the user's directories, or, where the user is in none, all users in none; and agents in none.
 */
export async function countShown(db: Db, user: number): Promise<Shown> {
  const rows = await db<{ directory_id: number }[]>`
    select directory_id from directory_members where user_id = ${user} order by directory_id`
  const directories = rows.map(({ directory_id }) => directory_id)
  const mine = directories.length === 0 ? [0] : directories
  const kept = await db<{ directory_id: number; is_agent: boolean; count: number }[]>`
    select directory_id, is_agent, sum(count)::bigint as count from (
      select directory_id, is_agent, count from directory_counts
      union all select directory_id, is_agent, added from directory_count_changes
    ) c
    where directory_id = any(${[0, ...mine]}::bigint[]) group by directory_id, is_agent order by 1, 2`
  const sumOf = (of: number[], isAgent: boolean) =>
    kept.reduce((sum, row) => (of.includes(row.directory_id) && row.is_agent === isAgent ? sum + row.count : sum), 0)
  const twice = mine.length > 1 ? await countTwice(db as Sql, mine) : { people: 0, agents: 0 }
  const agentsIn = directories.length === 0 ? [0] : [0, ...mine]
  // A new user without directories changes nothing for users who are in some.
  const people = sumOf(mine, false)
  const state = directories.length === 0 ? (await countAll(db)) - people : people
  const agents = sumOf(agentsIn, true)
  return { people: people - twice.people, agents: agents - twice.agents, by: { directories, state: [state, agents] } }
}

/** How often members of several of these directories are counted more than once. */
const countTwice = cachedQuery(
  rememberedMs,
  async (sql: Sql, directories: number[]): Promise<Pick<Shown, 'people' | 'agents'>> => {
    const [row] = await sql<[{ people: number; agents: number }]>`
    select coalesce(sum(extra) filter (where not is_agent), 0)::bigint as people,
      coalesce(sum(extra) filter (where is_agent), 0)::bigint as agents
    from (
      select u.is_agent, count(*) - 1 as extra from directory_members d join users u on u.id = d.user_id
      where d.directory_id = any(${directories}::bigint[]) and u.trashed_at is null
      group by u.id having count(*) > 1
    ) s`
    return row
  },
)

/** Changes that are summed by one statement, within some milliseconds. */
export const addedUpAtOnce = 10_000

/** Sums up changes of the counts of directories; returns how many. Any number of nodes may run it at once. */
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
