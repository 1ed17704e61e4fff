import { cachedQuery } from '../../../postgres/cached-query.ts'
import type { Db, Sql } from '../../../postgres/sql.ts'
import { countAll } from './crowd.ts'

/** How long it may be answered again how many are in several directories of somebody: it decides nothing but a total. */
const rememberedMs = 30_000

/** How many people and agents directories show to a user, those in the trash not counted. */
export interface Shown {
  people: number
  agents: number
  by: ShownBy
}

/** What decides who is shown to a user: the same for everybody in the same directories. */
export interface ShownBy {
  /** None: all who are in no directory are shown. */
  directories: number[]
  /** Numbers that change with who is in them: of a person who joins and one who leaves in the same 30 s, they know nothing. */
  state: number[]
}

/** Members of the user's directories, or all who are in none where the user is in none; and the agents in none. */
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
  // Where somebody is made who is in no directory, nothing is different for those who are in some.
  const people = sumOf(mine, false)
  const state = directories.length === 0 ? (await countAll(db)) - people : people
  const agents = sumOf(agentsIn, true)
  return { people: people - twice.people, agents: agents - twice.agents, by: { directories, state: [state, agents] } }
}

/** How often members of these directories are counted beyond once. */
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
