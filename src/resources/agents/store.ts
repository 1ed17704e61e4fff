import { listUsersById, selectUsers, type User } from '../../auth/user-cache.ts'
import { toReference } from '../../api/reference.ts'
import type { Db, Tx } from '../../postgres/sql.ts'
import type { Provider } from './schema.ts'

/** The settings of an agent. */
export interface AgentSettings {
  provider: Provider
  model: string
  instructions: string | null
  knowledge: number[]
  web_search: boolean
  max_tokens: number | null
}

/** An agent's settings in responses: with the names of its functions, without deleted apps. */
export interface AgentRow extends AgentSettings {
  user_id: number
  functions: string[]
}

export interface AgentPerson {
  person: User
  row: AgentRow
}

/** The agent that `{agent}` names, trashed or not; null for users too. */
export async function findAgent(db: Db, ref: string): Promise<AgentPerson | null> {
  const { id, name } = toReference(ref)
  const named = id === null ? db`fold_name(u.uid) = fold_name(${name})` : db`u.id = ${id}`
  const [person] = await db<User[]>`${selectUsers(db)} where ${named} and u.is_agent`
  if (person === undefined) return null
  const row = (await listSettings(db, [person.id])).get(person.id)
  return row === undefined ? null : { person, row }
}

/** The agents among some users, in order. */
export async function listAgents(db: Db, ids: number[]): Promise<AgentPerson[]> {
  if (ids.length === 0) return []
  const [people, rows] = await Promise.all([listUsersById(db, ids), listSettings(db, ids)])
  const known = new Map(people.map(person => [person.id, person]))
  return ids.flatMap(id => {
    const [person, row] = [known.get(id), rows.get(id)]
    return person === undefined || row === undefined ? [] : { person, row }
  })
}

/** All agents, with true for those that are not in the trash. */
export function listAllAgents(db: Db): Promise<{ id: number; is_active: boolean }[]> {
  return db<{ id: number; is_active: boolean }[]>`
    select u.id, u.trashed_at is null as is_active from agents a join users u on u.id = a.user_id`
}

async function listSettings(db: Db, ids: number[]): Promise<Map<number, AgentRow>> {
  const rows = await db<AgentRow[]>`
    select g.user_id, g.provider, g.model, g.instructions, g.web_search, g.max_tokens,
      array(select f.name from agent_functions f where f.agent_id = g.user_id order by f.id) as functions,
      array(
        select a.id from unnest(g.knowledge) with ordinality k(id, place) join apps a on a.id = k.id
        where a.deleted_at is null order by k.place) as knowledge
    from agents g where g.user_id = any(${ids}::bigint[])`
  return new Map(rows.map(row => [row.user_id, row]))
}

/** The settings of an agent whose user is locked. */
export async function findSettings(tx: Tx, agent: number): Promise<AgentSettings | null> {
  const [row] = await tx<AgentSettings[]>`
    select provider, model, instructions, knowledge, web_search, max_tokens from agents where user_id = ${agent}`
  return row ?? null
}

/** Stores the settings of an agent, new or changed. */
export async function saveSettings(tx: Tx, agent: number, settings: AgentSettings): Promise<void> {
  const { provider, model, instructions, knowledge, web_search, max_tokens } = settings
  await tx`
    insert into agents (user_id, provider, model, instructions, knowledge, web_search, max_tokens)
    values (${agent}, ${provider}, ${model}, ${instructions}, ${knowledge}::bigint[], ${web_search}, ${max_tokens})
    on conflict (user_id) do update set provider = excluded.provider, model = excluded.model,
      instructions = excluded.instructions, knowledge = excluded.knowledge, web_search = excluded.web_search,
      max_tokens = excluded.max_tokens`
}

/** The ids for references to files apps; others are missing. Served by apps_uid. */
export async function resolveFilesApps(tx: Tx, refs: readonly string[]): Promise<Map<string, number>> {
  const references = [...new Set(refs)].map(text => ({ text, ...toReference(text) }))
  const rows = await tx<{ text: string; id: number }[]>`
    with r as (
      select * from unnest(${references.map(({ text }) => text)}::text[], ${references.map(({ id }) => id)}::bigint[],
        ${references.map(({ name }) => name)}::text[]) as r(text, id, name)),
    found as (
      select r.text, a.id, a.type, a.deleted_at from r join apps a on a.id = r.id
      union all
      select r.text, a.id, a.type, a.deleted_at from r join apps a
        on fold_name(a.uid) = fold_name(r.name) and a.deleted_at is null and a.type <> 'agent_chat')
    select text, id from found where type = 'files' and deleted_at is null`
  return new Map(rows.map(({ text, id }) => [text, id]))
}
