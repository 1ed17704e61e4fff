import type { Sql, Tx } from '../../postgres/sql.ts'
import { batchLoads } from '../../postgres/batch-loads.ts'

interface TokenRow {
  /** In base64. */
  hash: string
  user: number
  /** What the user has allowed a client, where the token comes of that. */
  grant?: number
  now: Date
  expiresAt: Date
}

/** False where the user does not exist or is trashed. Locks the user against deletion meanwhile. */
export async function insertToken(tx: Tx, token: TokenRow): Promise<boolean> {
  return (await insertTokens(tx, [token])).has(token)
}

/** Inserts the tokens that one transaction makes within a tick, in one statement; returns the inserted ones. */
const insertTokens = batchLoads<TokenRow, true>(async (sql, tokens) => {
  const rows = await sql<{ place: number }[]>`
    with given as (
      select r.place, decode(r.hash, 'base64') as hash, u.id, r."grant", r.now, r."expiresAt"
      from jsonb_to_recordset(${JSON.stringify(tokens.map((token, place) => ({ ...token, place })))}::text::jsonb) as r(
        place int, hash text, "user" bigint, "grant" bigint, now timestamptz, "expiresAt" timestamptz)
      join users u on u.id = r."user" and u.trashed_at is null
      order by u.id
      for key share of u
    ), made as (
      insert into tokens (hash, user_id, grant_id, created_at, expires_at)
      select hash, id, "grant", now, "expiresAt" from given
    )
    select place from given`
  return new Map(rows.map(({ place }) => [tokens[place]!, true]))
})

/** Also what the user has allowed clients, of which they would get further tokens. Served by tokens_user and grants_user. */
export async function removeTokens(tx: Tx, user: number): Promise<void> {
  await tx`delete from grants where user_id = ${user}`
  await tx`delete from tokens where user_id = ${user}`
}

/** How many expired tokens were removed, at most `limit`. Served by tokens_expiry. */
export async function removeExpired(sql: Sql, now: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from tokens where hash in (
      select hash from tokens where expires_at < ${now}
      order by expires_at limit ${limit} for update skip locked)`
  return count
}
