import { resolve } from 'node:path'
import { StartFault } from '../lib/errors.ts'
import { keyFileOf, makeKeyFile, readKeyFile } from '../lib/data/key-file.ts'
import type { Log } from '../lib/log.ts'
import type { Secret } from '../lib/secret.ts'
import { Vault } from '../lib/vault.ts'
import { inPortions } from '../jobs/portions.ts'
import type { Job } from '../jobs/jobs.ts'
import type { Db, Sql } from '../postgres/sql.ts'

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

interface VaultParts {
  sql: Sql
  /** SECRET_KEYS. */
  keys: readonly Secret[]
  dataDir: string
  /** True where other nodes may use the same database, with data directories of their own. */
  isShared: boolean
  log: Log
}

/**
 * The vault of this node: of SECRET_KEYS and the keys of the key file in its data directory, if there is one. Where there
 * are neither, a key file is made. Not for a database that others may share: a file of one node would be missing on the
 * others, and in containers gone with the next; there, secrets are stored in clear until there are keys, with a warning
 * from the first secret on.
 *
 * StartFault where the node lacks a key that values are sealed with, or that other nodes seal with from now on.
 */
export async function openVault({ sql, keys: given, dataDir, isShared, log }: VaultParts): Promise<Vault> {
  const path = resolve(keyFileOf(dataDir))
  let keys = [...given, ...readKeyFile(path)]
  await requireKeys(sql, new Vault(keys), path)
  if (keys.length === 0 && !isShared) {
    keys = makeKeyFile(dataDir)
    log.info({ path }, 'Secrets are sealed with a new key in this file: keep a copy of it, apart from backups')
  }
  const vault = new Vault(keys)
  if (isShared) await requireSameKey(sql, vault, path)
  if (await hasClearSecrets(sql, vault))
    log.warn({}, 'Headers of agents and secrets of webhooks are stored in clear: SECRET_KEYS is not set')
  return vault
}

/** True where secrets are stored in clear, and stay so because there is no key. */
export async function hasClearSecrets(sql: Sql, vault: Vault): Promise<boolean> {
  if (vault.isLocked) return false
  const [row] = await sql<{ has: boolean }[]>`
    select ${columns
      .map(({ table, column }) => sql`exists (select from ${sql(table)} where ${sql(column)} is not null)`)
      .reduce((some, one) => sql`${some} or ${one}`)} as has`
  return row!.has
}

/** Lets the next node that starts seal with any key that opens what is sealed. */
export async function forgetKey(db: Db): Promise<void> {
  await db`update environment set sealing_key = null`
}

/** StartFault where values are encrypted with keys that are not configured. */
async function requireKeys(sql: Sql, vault: Vault, path: string): Promise<void> {
  for (const { table, column } of columns) {
    const rows = await sql<{ key: string }[]>`
      select distinct substring(to_json(${sql(column)}) #>> '{}' from '^v1\\.([\\w-]{8})\\.[\\w-]{16}\\.') as key
      from ${sql(table)}`
    const missing = rows.filter(({ key }) => key !== null && !vault.has(key)).map(({ key }) => key)
    if (missing.length === 0) continue
    throw new StartFault(
      `SECRET_KEYS lacks keys that ${column} of ${table} are sealed with: ${missing.join(', ')}. ${waysOut(path)}`,
    )
  }
}

/** StartFault where the nodes of this database seal with a key that this one lacks. The first node decides. */
async function requireSameKey(sql: Sql, vault: Vault, path: string): Promise<void> {
  const known = await sql.begin(async tx => {
    const [row] = await tx<{ sealing_key: string | null }[]>`select sealing_key from environment for update`
    const found = row!.sealing_key
    if (vault.isLocked && (found === null || vault.has(found)))
      await tx`update environment set sealing_key = ${vault.sealsWith} where sealing_key is distinct from ${vault.sealsWith}`
    return found
  })
  if (known === null || vault.has(known)) return
  throw new StartFault(
    `SECRET_KEYS lacks the key ${known}, which other nodes of this database seal secrets with. ${waysOut(path)} ` +
      'If nothing is sealed with it and no node has it any more: update environment set sealing_key = null',
  )
}

const waysOut = (path: string) =>
  `Set SECRET_KEYS as it was, or as on the other nodes, or put a copy of the key file of before at ${path}.`

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
