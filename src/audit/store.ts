import { batch } from '../postgres/batch.ts'
import type { Page } from '../api/page.ts'
import type { Db, Fragment } from '../postgres/sql.ts'

/** An entry to insert. */
export interface NewAuditRow {
  at: Date
  actor_kind: 'key' | 'server' | 'user' | 'nobody'
  /** The hash of the key in base64; empty without one. */
  credential: string
  session_id: number | null
  ip: string | null
  action: string
  target_type: string | null
  target_id: number | null
  target_name: string | null
  before: object | null
  after: object | null
  request_id: string | null
}

/** Inserts entries in the commit of the change. Finds keys by api_keys_hash_key. */
export const insertAudit = batch<NewAuditRow>({
  name: 'insert_audit',
  columns: {
    at: 'timestamptz',
    actor_kind: 'text',
    credential: 'text',
    session_id: 'bigint',
    ip: 'text',
    action: 'text',
    target_type: 'text',
    target_id: 'bigint',
    target_name: 'text',
    before: 'jsonb',
    after: 'jsonb',
    request_id: 'text',
  },
  sql: rows => `
    insert into audit (
      at, actor_kind, key_id, session_id, ip, action, target_type, target_id, target_name, before, after, request_id)
    select at, actor_kind, (select k.id from api_keys k where k.hash = decode(r.credential, 'base64')),
      session_id, ip, action, target_type, target_id, target_name, before, after, request_id
    from ${rows} r`,
})

export interface AuditRow extends Omit<NewAuditRow, 'credential'> {
  id: number
  key_id: number | null
  /** The current name of the key. */
  key_name: string | null
}

export interface AuditFilter {
  action?: string | undefined
  key?: number | undefined
  session?: number | undefined
  target_type?: string | undefined
  target_id?: number | undefined
  ip?: string | undefined
  q?: string | undefined
  since?: Date | undefined
  until?: Date | undefined
}

/** One page of the log. Served by audit_id, and by audit_action, audit_target and audit_key for these filters. */
export function listAudit(
  db: Db,
  filter: AuditFilter,
  { descending, skip, take }: { descending: boolean } & Pick<Page, 'skip' | 'take'>,
): Promise<AuditRow[]> {
  return db<AuditRow[]>`
    ${select(db)} where ${matches(db, filter)}
    order by a.id ${descending ? db`desc` : db``} limit ${take} offset ${skip}`
}

/** Entries older than `id`, newest first, to walk through all. Served as listAudit. */
export function listAuditBefore(db: Db, filter: AuditFilter, id: number, limit: number): Promise<AuditRow[]> {
  return db<AuditRow[]>`
    ${select(db)} where ${matches(db, filter)} and a.id < ${id} order by a.id desc limit ${limit}`
}

export async function countAudit(db: Db, filter: AuditFilter): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from audit a where ${matches(db, filter)}`
  return row!.count
}

const select = (db: Db) => db`
  select a.id, a.at, a.actor_kind, a.key_id, k.name as key_name, a.session_id, a.ip, a.action, a.target_type,
    a.target_id, a.target_name, a.before, a.after, a.request_id
  from audit a left join api_keys k on k.id = a.key_id`

function matches(db: Db, filter: AuditFilter): Fragment {
  const { action, key, session, target_type, target_id, ip, q, since, until } = filter
  return db`true
    ${action === undefined ? db`` : db`and a.action = ${action}`}
    ${key === undefined ? db`` : db`and a.key_id = ${key}`}
    ${session === undefined ? db`` : db`and a.session_id = ${session}`}
    ${target_type === undefined ? db`` : db`and a.target_type = ${target_type}`}
    ${target_id === undefined ? db`` : db`and a.target_id = ${target_id}`}
    ${ip === undefined ? db`` : db`and a.ip = ${ip}`}
    ${q === undefined ? db`` : db`and strpos(fold_name(a.target_name), fold_name(${q})) > 0`}
    ${since === undefined ? db`` : db`and a.at >= ${since}`}
    ${until === undefined ? db`` : db`and a.at < ${until}`}`
}
