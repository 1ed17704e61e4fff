import type { AuditRow } from '../../audit/store.ts'
import { verbatim } from '../../api/json.ts'

export function showEntry(row: AuditRow) {
  const { id, at, actor_kind, key_id, key_name, session_id, ip, request_id, action } = row
  const { target_type, target_id, target_name, before, after } = row
  return {
    id,
    at,
    actor: { kind: actor_kind, id: key_id, name: key_name },
    session_id,
    ip,
    request_id,
    action,
    target: target_type === null ? null : { type: target_type, id: target_id, name: target_name },
    before: verbatim(before),
    after: verbatim(after),
  }
}
