import { isDeepStrictEqual } from 'node:util'
import type { Principal } from '../auth/principal.ts'
import { writeRows, type Batch } from '../postgres/batch.ts'
import type { Db } from '../postgres/sql.ts'
import type { AuditAction } from './actions.ts'
import { insertAudit, type NewAuditRow } from './store.ts'

/** An action and its target. Never contains users' texts, secrets or tokens; see `differences`. */
export interface AuditEntry {
  action: AuditAction
  target?: { type: string; id: number | null; name?: string | null | undefined }
  before?: Record<string, unknown>
  after?: Record<string, unknown>
}

/** The command being decided, of an app or global. */
interface Auditable {
  readonly by: Principal
  readonly now: Date
  write<Row extends object>(batch: Batch<Row>, row: Row): void
}

/** Names serve to find entries. */
const nameLimit = 256

/** Records an action of an API key or of the server in the command's commit. Actions of users are in the event log. */
export function audit(work: Auditable, entry: AuditEntry): void {
  if (work.by.kind === 'key') work.write(insertAudit, toAuditRow(work.by, work.now, entry))
}

/** Records an action of an API key; the server's own regular work, such as emptying the trash, is not recorded. */
export function auditByKey(work: Auditable, entry: AuditEntry): void {
  if (work.by.credential !== '') audit(work, entry)
}

/** Records an action that no command takes part in, such as a refused sign-in. */
export function auditAlone(db: Db, by: Principal, at: Date, entry: AuditEntry): Promise<void> {
  return writeRows(db, [{ batch: insertAudit as Batch<object>, row: toAuditRow(by, at, entry) }])
}

function toAuditRow(by: Principal, at: Date, { action, target, before, after }: AuditEntry): NewAuditRow {
  return {
    at,
    actor_kind: by.kind !== 'key' ? by.kind : by.credential === '' ? 'server' : 'key',
    credential: by.credential,
    session_id: by.session ?? null,
    ip: by.ip ?? null,
    action,
    target_type: target?.type ?? null,
    target_id: target?.id ?? null,
    target_name: target?.name?.slice(0, nameLimit) ?? null,
    before: before ?? null,
    after: after ?? null,
    request_id: by.request ?? null,
  }
}

const withheld = '[changed]'

/**
 * The differences between a row and its new values, as `before` and `after` of an entry; null without any. Values
 * appear for `shown` fields only; others are just named.
 */
export function differences<Row extends object>(
  before: Row,
  after: Row,
  shown: readonly (keyof Row & string)[],
): { before: Record<string, unknown>; after: Record<string, unknown> } | null {
  const told = { before: {} as Record<string, unknown>, after: {} as Record<string, unknown> }
  for (const field of Object.keys(after) as (keyof Row & string)[]) {
    if (isDeepStrictEqual(before[field], after[field])) continue
    const isShown = shown.includes(field)
    if (isShown) told.before[field] = before[field]
    told.after[field] = isShown ? after[field] : withheld
  }
  return Object.keys(told.after).length === 0 ? null : told
}
