import type { Db, Tx } from '../../../postgres/sql.ts'
import type { Vault } from '../../../lib/vault.ts'
import { openHeaders, sealHeaders } from '../children/headers.ts'
import type { StoredServer, ToolServerRow } from './schema.ts'

/** In the order of adding. */
export function listServers(db: Db, agent: number): Promise<StoredServer[]> {
  return db<StoredServer[]>`
    select id, name, url, description, allowed_tools, approval_mode, headers from agent_servers
    where agent_id = ${agent} order by id`
}

export async function findServer(db: Db, agent: number, name: string): Promise<StoredServer | null> {
  const [row] = await db<StoredServer[]>`
    select id, name, url, description, allowed_tools, approval_mode, headers from agent_servers
    where agent_id = ${agent} and name = ${name}`
  return row ?? null
}

/** Stored tool servers with new ids, headers encrypted where keys are configured. */
export async function toStored(tx: Tx, vault: Vault, rows: ToolServerRow[]): Promise<StoredServer[]> {
  const numbers = await tx<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('agent_servers', 'id')) as id from generate_series(1, ${rows.length})`
  return rows.map((row, place) => {
    const { id } = numbers[place]!
    return { ...row, id, headers: sealHeaders(vault, row.headers, { table: 'agent_servers', id }) }
  })
}

/** A stored tool server with decrypted headers. */
export function openServer(vault: Vault, { id, ...row }: StoredServer): ToolServerRow {
  return { ...row, headers: openHeaders(vault, row.headers, { table: 'agent_servers', id }) }
}

export async function insertServers(tx: Tx, agent: number, rows: StoredServer[]): Promise<void> {
  for (const row of rows) {
    await tx`
      insert into agent_servers (id, agent_id, name, url, description, allowed_tools, approval_mode, headers)
      overriding system value
      values (${row.id}, ${agent}, ${row.name}, ${row.url}, ${row.description}, ${row.allowed_tools},
        ${row.approval_mode}, ${toJson(row.headers)}::text::json)`
  }
}

/** `name`: the name before the change. */
export async function updateServer(tx: Tx, agent: number, name: string, row: StoredServer): Promise<void> {
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

const toJson = (value: object | string | null) => (value === null ? null : JSON.stringify(value))
