import { z } from 'zod'
import { auditActions } from '../../audit/actions.ts'
import { IdQuery, Int, MomentInput, pagedList, Timestamp } from '../../api/shape.ts'
import { Listing } from '../../api/page.ts'

export const AuditListing = Listing.pick({ q: true, order_by: true, skip: true, take: true, count_only: true }).extend({
  action: z.enum(auditActions).optional(),
  key: IdQuery.optional().describe('Id of the API key that acted'),
  session: IdQuery.optional().describe('Id of the session of the administration page that it acted through'),
  target_type: z.string().max(64).optional().describe('What was acted on: `user`, `key`, `webhook`, …'),
  target_id: IdQuery.optional(),
  ip: z.string().max(64).optional().describe('Where the request came from'),
  since: MomentInput.optional(),
  until: MomentInput.optional(),
})
export type AuditListing = z.output<typeof AuditListing>

const Values = z.record(z.string(), z.unknown())

export const AuditEntry = z
  .object({
    id: Int,
    at: Timestamp,
    actor: z.object({
      kind: z
        .enum(['key', 'server', 'user', 'nobody'])
        .describe('user: the target itself, through a client; nobody: an attempt to sign in that was refused'),
      id: Int.optional().describe('Id of the API key'),
      name: z.string().optional().describe('What the key is called now'),
    }),
    session_id: Int.optional(),
    ip: z.string().optional(),
    request_id: z.string().optional(),
    action: z.enum(auditActions),
    target: z.object({ type: z.string(), id: Int.optional(), name: z.string().optional() }).optional(),
    before: Values.optional().describe('What was changed, as it was; texts and secrets are not told'),
    after: Values.optional().describe('What was changed, as it is since; `[changed]` stands for texts and secrets'),
  })
  .meta({ id: 'AuditEntry' })
export const AuditEntries = pagedList(AuditEntry)
