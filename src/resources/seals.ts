import { StartFault } from '../lib/errors.ts'
import type { Vault } from '../lib/vault.ts'
import { inPortions } from '../jobs/portions.ts'
import type { Job } from '../jobs/jobs.ts'
import type { Sql } from '../postgres/sql.ts'

/** The columns with secrets. A value is bound to its row's `id`. */
const columns = [
  { table: 'agent_functions', column: 'headers', isJson: true },
  { table: 'agent_servers', column: 'headers', isJson: true },
  { table: 'webhooks', column: 'secret', isJson: false },
  { table: 'webhooks', column: 'old_secret', isJson: false },
] as const
type Column = (typeof columns)[number]

/** Rows per transaction, few enough that nothing waits for them. A guess. */
const batchSize = 100

/** StartFault where values are encrypted with keys that are not configured. */
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

/** Encrypts values that are stored in clear, or with an older key, with the first key. Without keys it does nothing. */
export function sealJob({ sql, vault }: { sql: Sql; vault: Vault }): Job {
  const run = async (signal: AbortSignal) => {
    let sealed = 0
    if (!vault.isLocked) return sealed
    for (const column of columns) sealed += await inPortions(batchSize, signal, () => sealSome(sql, vault, column))
    return sealed
  }
  return { name: 'seal secrets', periodMs: 60_000, run }
}

/** Returns how many were encrypted. A value that was changed meanwhile has been encrypted by that. */
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
