import type { Db, Tx } from '../../../postgres/sql.ts'
import type { Vault } from '../../../lib/vault.ts'
import { openHeaders, sealHeaders } from '../children/headers.ts'
import type { FunctionDefinition } from '../../../agents/tools/functions/function.ts'
import type { StoredFunction } from './schema.ts'

/** In the order of adding. */
export function listFunctions(db: Db, agent: number): Promise<StoredFunction[]> {
  return db<StoredFunction[]>`
    select id, name, description, method, url, headers, parameters from agent_functions
    where agent_id = ${agent} order by id`
}

export async function findFunction(db: Db, agent: number, name: string): Promise<StoredFunction | null> {
  const [row] = await db<StoredFunction[]>`
    select id, name, description, method, url, headers, parameters from agent_functions
    where agent_id = ${agent} and name = ${name}`
  return row ?? null
}

/** Stored functions with new ids, headers encrypted where keys are configured. */
export async function toStored(tx: Tx, vault: Vault, rows: FunctionDefinition[]): Promise<StoredFunction[]> {
  const numbers = await tx<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('agent_functions', 'id')) as id from generate_series(1, ${rows.length})`
  return rows.map((row, place) => {
    const { id } = numbers[place]!
    return { ...row, id, headers: sealHeaders(vault, row.headers, { table: 'agent_functions', id }) }
  })
}

/** A stored function with decrypted headers. */
export function openFunction(vault: Vault, { id, ...row }: StoredFunction): FunctionDefinition {
  return { ...row, headers: openHeaders(vault, row.headers, { table: 'agent_functions', id }) }
}

export async function insertFunctions(tx: Tx, agent: number, rows: StoredFunction[]): Promise<void> {
  for (const row of rows) {
    await tx`
      insert into agent_functions (id, agent_id, name, description, method, url, headers, parameters)
      overriding system value
      values (${row.id}, ${agent}, ${row.name}, ${row.description}, ${row.method}, ${row.url},
        ${toJson(row.headers)}::text::json, ${toJson(row.parameters)}::text::json)`
  }
}

/** `name`: the name before the change. */
export async function updateFunction(tx: Tx, agent: number, name: string, row: StoredFunction): Promise<void> {
  await tx`
    update agent_functions
    set name = ${row.name}, description = ${row.description}, method = ${row.method}, url = ${row.url},
      headers = ${toJson(row.headers)}::text::json, parameters = ${toJson(row.parameters)}::text::json
    where agent_id = ${agent} and name = ${name}`
}

export async function removeFunction(tx: Tx, agent: number, name: string): Promise<boolean> {
  const { count } = await tx`delete from agent_functions where agent_id = ${agent} and name = ${name}`
  return count > 0
}

export async function removeFunctions(tx: Tx, agent: number): Promise<void> {
  await tx`delete from agent_functions where agent_id = ${agent}`
}

const toJson = (value: object | string | null) => (value === null ? null : JSON.stringify(value))
