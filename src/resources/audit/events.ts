import { z } from 'zod'
import type { AuditRow } from '../../audit/store.ts'
import { event } from '../../engine/event.ts'
import { showEntry } from './represent.ts'
import { AuditEntry } from './schema.ts'

/**
 * What webhooks are told of the audit log: each entry, as the API shows it. It is in no history; the database itself
 * queues its deliveries, see the migration `audit_webhooks`.
 */
export const auditEntryCreated = event({
  type: 'audit_entry_created',
  entity: 'audit_entry',
  isActivity: false,
  trigger: 'audit',
  payload: z.object({ entry: AuditEntry }),
  redact({ facts, created_at }) {
    if (facts === null) return null
    return { entry: showEntry({ ...(facts as unknown as Omit<AuditRow, 'at'>), at: created_at }) }
  },
})
