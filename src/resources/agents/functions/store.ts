import type { Db, Tx } from '../../../storage/sql.ts'
import type { FunctionRow } from './schema.ts'

/** In the order in which they were added. */
export function listFunctions(db: Db, agent: number): Promise<FunctionRow[]> {
  return db<FunctionRow[]>`
    select name, description, method, url, headers, parameters from agent_functions
    where agent_id = ${agent} order by id`
}

export async function findFunction(db: Db, agent: number, name: string): Promise<FunctionRow | null> {
  const [row] = await db<FunctionRow[]>`
    select name, description, method, url, headers, parameters from agent_functions
    where agent_id = ${agent} and name = ${name}`
  return row ?? null
}

export async function insertFunctions(tx: Tx, agent: number, rows: FunctionRow[]): Promise<void> {
  for (const row of rows) {
    await tx`
      insert into agent_functions (agent_id, name, description, method, url, headers, parameters)
      values (${agent}, ${row.name}, ${row.description}, ${row.method}, ${row.url},
        ${toJson(row.headers)}::text::json, ${toJson(row.parameters)}::text::json)`
  }
}

/** `name`: what it was called before. */
export async function updateFunction(tx: Tx, agent: number, name: string, row: FunctionRow): Promise<void> {
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

const toJson = (value: object | null) => (value === null ? null : JSON.stringify(value))
