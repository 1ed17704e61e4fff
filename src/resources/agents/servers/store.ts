import type { Db, Tx } from '../../../storage/sql.ts'
import type { ToolServerRow } from './schema.ts'

/** In the order in which they were added. */
export function listServers(db: Db, agent: number): Promise<ToolServerRow[]> {
  return db<ToolServerRow[]>`
    select name, url, description, allowed_tools, approval_mode, headers from agent_servers
    where agent_id = ${agent} order by id`
}

export async function findServer(db: Db, agent: number, name: string): Promise<ToolServerRow | null> {
  const [row] = await db<ToolServerRow[]>`
    select name, url, description, allowed_tools, approval_mode, headers from agent_servers
    where agent_id = ${agent} and name = ${name}`
  return row ?? null
}

export async function insertServer(tx: Tx, agent: number, row: ToolServerRow): Promise<void> {
  await tx`
    insert into agent_servers (agent_id, name, url, description, allowed_tools, approval_mode, headers)
    values (${agent}, ${row.name}, ${row.url}, ${row.description}, ${row.allowed_tools}, ${row.approval_mode},
      ${toJson(row.headers)}::text::json)`
}

/** `name`: what it was called before. */
export async function updateServer(tx: Tx, agent: number, name: string, row: ToolServerRow): Promise<void> {
  await tx`
    update agent_servers
    set name = ${row.name}, url = ${row.url}, description = ${row.description}, allowed_tools = ${row.allowed_tools},
      approval_mode = ${row.approval_mode}, headers = ${toJson(row.headers)}::text::json
    where agent_id = ${agent} and name = ${name}`
}

export async function removeServer(tx: Tx, agent: number, name: string): Promise<boolean> {
  const { count } = await tx`delete from agent_servers where agent_id = ${agent} and name = ${name}`
  return count > 0
}

const toJson = (value: object | null) => (value === null ? null : JSON.stringify(value))
