import type { Page } from '../../../api/page.ts'
import type { Db, Fragment } from '../../../postgres/sql.ts'

/** A session of the administration page, and its API key. */
export interface AdminSessionRow {
  id: number
  key_id: number
  key_name: string
  /** The `credential` of the key's principals. */
  key_hash: string
  created_at: Date
  used_at: Date
  /** The earlier of its own end and that of its key. */
  expires_at: Date
  ip: string | null
  agent: string | null
}

export interface NewAdminSession {
  /** The hashes of the cookie and the key, in base64. */
  hash: string
  key: string
  now: Date
  expiresAt: Date
  ip: string
  agent: string
}

/** The id of the session; null where the key was revoked meanwhile. */
export async function insertSession(db: Db, session: NewAdminSession): Promise<number | null> {
  const { hash, key, now, expiresAt, ip, agent } = session
  const [row] = await db<{ id: number }[]>`
    insert into admin_sessions (hash, key_id, created_at, used_at, expires_at, ip, agent)
    select decode(${hash}, 'base64'), id, ${now}, ${now}, ${expiresAt}, ${ip}, ${agent}
    from api_keys where hash = decode(${key}, 'base64') and revoked_at is null
    returning id`
  return row?.id ?? null
}

/** A session that has not ended, by the hash of its cookie. Served by admin_sessions_hash_key. */
export async function findSession(db: Db, hash: string, open: OpenAt): Promise<AdminSessionRow | null> {
  const [row] = await db<AdminSessionRow[]>`
    ${select(db)} where s.hash = decode(${hash}, 'base64') and ${isOpen(db, open)}`
  return row ?? null
}

export async function findSessionById(db: Db, id: number, open: OpenAt): Promise<AdminSessionRow | null> {
  const [row] = await db<AdminSessionRow[]>`${select(db)} where s.id = ${id} and ${isOpen(db, open)}`
  return row ?? null
}

/** The sessions that have not ended, newest first. They are few, so no index serves this. */
export function listSessions(db: Db, open: OpenAt, { skip, take }: Pick<Page, 'skip' | 'take'>) {
  return db<AdminSessionRow[]>`
    ${select(db)} where ${isOpen(db, open)} order by s.id desc limit ${take} offset ${skip}`
}

export async function countSessions(db: Db, open: OpenAt): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from admin_sessions s join api_keys k on k.id = s.key_id where ${isOpen(db, open)}`
  return row!.count
}

/** False where there is no such session. */
export async function removeSession(db: Db, id: number): Promise<boolean> {
  const { count } = await db`delete from admin_sessions where id = ${id}`
  return count > 0
}

/** Removes ended sessions, `limit` at most. */
export async function removeEnded(db: Db, open: OpenAt, limit: number): Promise<void> {
  await db`
    delete from admin_sessions where id in (
      select s.id from admin_sessions s join api_keys k on k.id = s.key_id
      where not ${isOpen(db, open)} order by s.id limit ${limit})`
}

/** Records when a session was used. */
export async function recordSessionUse(db: Db, id: number, at: Date): Promise<void> {
  await db`update admin_sessions set used_at = greatest(used_at, ${at}::timestamptz) where id = ${id}`
}

export interface OpenAt {
  now: Date
  /** A session that was last used before this time has ended. */
  usedSince: Date
}

const select = (db: Db) => db`
  select s.id, s.key_id, k.name as key_name, encode(k.hash, 'base64') as key_hash, s.created_at, s.used_at,
    least(s.expires_at, k.expires_at) as expires_at, s.ip, s.agent
  from admin_sessions s join api_keys k on k.id = s.key_id`

function isOpen(db: Db, { now, usedSince }: OpenAt): Fragment {
  return db`(
    s.expires_at > ${now} and s.used_at > ${usedSince} and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > ${now})
  )`
}
