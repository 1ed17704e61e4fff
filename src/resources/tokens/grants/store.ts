import type { Page } from '../../../api/page.ts'
import { hashOf } from '../../../auth/credentials.ts'
import type { Db, Tx } from '../../../postgres/sql.ts'
import { readSecret } from './secrets.ts'

/** What a user has allowed a client. Hashes are SHA-256 in base64. */
export interface GrantRow {
  id: number
  user_id: number
  /** The hash of the client's id. */
  client: string
  client_name: string
  redirect_uri: string
  /** The hash of the half of all its secrets that stays. */
  family: string
  /** The hash of the other half of its present secret. */
  secret: string
  /** What the verifier of its code hashes to (S256); null once the code was exchanged. */
  challenge: string | null
  expires_at: Date
}

/** False where the user is trashed. */
export async function insertGrant(tx: Tx, grant: Omit<GrantRow, 'id'>, now: Date): Promise<boolean> {
  const { user_id, client, client_name, redirect_uri, family, secret, challenge, expires_at } = grant
  const { count } = await tx`
    insert into grants (user_id, client, client_name, redirect_uri, family, secret, challenge, created_at, used_at, expires_at)
    select id, decode(${client}, 'base64'), ${client_name}, ${redirect_uri}, decode(${family}, 'base64'),
      decode(${secret}, 'base64'), ${challenge}, ${now}, ${now}, ${expires_at}
    from users where id = ${user_id} and trashed_at is null and not is_agent
    for key share`
  return count === 1
}

/** Of two requests with one secret, the second sees what the first has made of it. Served by grants_family_key. */
export async function lockGrant(tx: Tx, family: string): Promise<GrantRow | null> {
  const [row] = await tx<GrantRow[]>`
    select id, user_id, encode(client, 'base64') as client, client_name, redirect_uri, encode(family, 'base64') as family,
      encode(secret, 'base64') as secret, challenge, expires_at
    from grants where family = decode(${family}, 'base64') for update`
  return row ?? null
}

/** The grant that an access token comes of, by the token's hash. Served by the primary keys. */
export async function lockGrantOfToken(tx: Tx, hash: string): Promise<GrantRow | null> {
  const [row] = await tx<{ family: string }[]>`
    select encode(g.family, 'base64') as family
    from tokens t join grants g on g.id = t.grant_id where t.hash = decode(${hash}, 'base64')`
  return row === undefined ? null : lockGrant(tx, row.family)
}

/** Replaces the secret; the code is exchanged. */
export async function updateSecret(
  tx: Tx,
  grant: Pick<GrantRow, 'id' | 'secret' | 'expires_at'>,
  now: Date,
): Promise<void> {
  const { id, secret, expires_at } = grant
  await tx`
    update grants set secret = decode(${secret}, 'base64'), challenge = null, used_at = ${now}, expires_at = ${expires_at}
    where id = ${id}`
}

/**
 * Removes a grant and its tokens; null where there is none. The tokens after the grant: one that is being issued meanwhile is
 * seen by then. Served by the primary key and tokens_grant.
 */
export async function removeGrant(tx: Tx, id: number): Promise<Pick<GrantRow, 'user_id' | 'client_name'> | null> {
  const [row] = await tx<Pick<GrantRow, 'user_id' | 'client_name'>[]>`
    delete from grants where id = ${id} returning user_id, client_name`
  await tx`delete from tokens where grant_id = ${id}`
  return row ?? null
}

/** True for any code or token of a grant, present or earlier: strangers get no further than this. */
export async function isOfGrant(db: Db, secret: string): Promise<boolean> {
  const family = (readSecret('code', secret) ?? readSecret('refresh', secret))?.family ?? ''
  const [row] = await db<{ is_of_grant: boolean }[]>`
    select exists (select from grants where family = decode(${family}, 'base64'))
      or exists (select from tokens where hash = decode(${hashOf(secret)}, 'base64') and grant_id is not null) as is_of_grant`
  return row!.is_of_grant
}

/** Counts a call that writes. Served by the primary key. */
export async function countWrite(db: Db, id: number, now: Date): Promise<void> {
  await db`update grants set writes = writes + 1, used_at = ${now} where id = ${id}`
}

export interface ListedGrant {
  id: number
  user: { id: number; uid: string | null; name: string }
  client: string
  redirect_uri: string
  created_at: Date
  used_at: Date
  expires_at: Date
  writes: number
}

interface GrantFilter {
  user: number | undefined
  now: Date
}

/** The grants whose code was exchanged, newest first. Served by the primary key, those of a user by grants_user. */
export function listGrants(db: Db, filter: GrantFilter, { skip, take }: Pick<Page, 'skip' | 'take'>) {
  return db<ListedGrant[]>`
    select g.id, jsonb_build_object('id', u.id, 'uid', u.uid, 'name', u.display_name) as "user", g.client_name as client,
      g.redirect_uri, g.created_at, g.used_at, g.expires_at, g.writes
    from grants g join users u on u.id = g.user_id
    where ${isOpen(db, filter)}
    order by g.id desc limit ${take} offset ${skip}`
}

export async function countGrants(db: Db, filter: GrantFilter): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from grants g where ${isOpen(db, filter)}`
  return row!.count
}

const isOpen = (db: Db, { user, now }: GrantFilter) => db`
  g.challenge is null and g.expires_at > ${now} ${user === undefined ? db`` : db`and g.user_id = ${user}`}`

/** How many expired grants were removed, at most `limit`. Served by grants_expiry. */
export async function removeExpiredGrants(db: Db, now: Date, limit: number): Promise<number> {
  const { count } = await db`
    delete from grants where id in (
      select id from grants where expires_at < ${now} order by expires_at limit ${limit} for update skip locked)`
  return count
}

/** What the ids of clients are signed with, the same on all nodes. */
export async function findClientSecret(db: Db): Promise<string> {
  const [row] = await db<{ client_secret: string }[]>`select client_secret from environment`
  return row!.client_secret
}
