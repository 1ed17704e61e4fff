import { StartFault } from '../lib/errors.ts'
import type { Vault } from '../lib/vault.ts'
import { inPortions } from '../jobs/portions.ts'
import type { Job } from '../jobs/jobs.ts'
import type { Sql } from '../postgres/sql.ts'

/** Where secrets are kept. The rows have an `id`, which is part of the place that a value is sealed for. */
const columns = [
  { table: 'agent_functions', column: 'headers', isJson: true },
  { table: 'agent_servers', column: 'headers', isJson: true },
  { table: 'webhooks', column: 'secret', isJson: false },
  { table: 'webhooks', column: 'old_secret', isJson: false },
] as const
type Column = (typeof columns)[number]

/** Rows in one portion: few enough that nothing waits for them. A guess. */
const batchSize = 100

/** Throws a StartFault where values are sealed with keys that are not at hand: they could not be used. */
export async function requireKeys(sql: Sql, vault: Vault): Promise<void> {
  for (const { table, column } of columns) {
    const rows = await sql<{ key: string }[]>`
      select distinct substring(to_json(${sql(column)}) #>> '{}' from '^v1\\.([\\w-]{8})\\.[\\w-]{16}\\.') as key
      from ${sql(table)}`
    const missing = rows.filter(({ key }) => key !== null && !vault.has(key)).map(({ key }) => key)
    if (missing.length === 0) continue
    throw new StartFault(`SECRET_KEYS lacks keys that ${column} of ${table} are sealed with: ${missing.join(', ')}`)
  }
}

/** Seals what is stored in clear, or sealed with an older key, with the first key. Without keys it does nothing. */
export function sealJob({ sql, vault }: { sql: Sql; vault: Vault }): Job {
  const run = async (signal: AbortSignal) => {
    let sealed = 0
    if (!vault.isLocked) return sealed
    for (const column of columns) sealed += await inPortions(batchSize, signal, () => sealSome(sql, vault, column))
    return sealed
  }
  return { name: 'seal secrets', periodMs: 60_000, run }
}

/** How many were sealed. One that was changed meanwhile has been sealed by that. */
async function sealSome(sql: Sql, vault: Vault, { table, column, isJson }: Column): Promise<number> {
  const rows = await sql<{ id: number; text: string }[]>`
    select id, to_json(${sql(column)}) #>> '{}' as text
    from ${sql(table)}
    where ${sql(column)} is not null and not starts_with(to_json(${sql(column)}) #>> '{}', ${vault.prefix})
    order by id
    limit ${batchSize}`
  for (const { id, text } of rows) {
    const place = `${table}:${column}:${id}`
    const sealed = vault.seal(vault.open(text, place), place)
    await sql`
      update ${sql(table)}
      set ${sql(column)} = ${isJson ? sql`${JSON.stringify(sealed)}::text::json` : sql`${sealed}`}
      where id = ${id} and to_json(${sql(column)}) #>> '{}' = ${text}`
  }
  return rows.length
}
