import { auditAlone } from '../../audit/audit.ts'
import { countAudit, listAudit, type AuditFilter } from '../../audit/store.ts'
import { Download } from '../../http/answer/download.ts'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { toPage, toPagedList } from '../../api/page.ts'
import { exportAudit, ndjsonType } from './export.ts'
import { showEntry } from './represent.ts'
import { AuditEntries, AuditListing } from './schema.ts'

const list = route('GET /api/audit', {
  summary: 'List who changed what, newest first; with Accept: application/x-ndjson all that is found, an entry a line',
  auth: 'key',
  isHeavy: true,
  query: AuditListing,
  streams: ndjsonType,
  replies: { 200: AuditEntries },
  async handle({ query, by, representation, addressOf }, { sql, now }) {
    const filter = toFilter(query)
    if (representation.isStream) {
      await auditAlone(sql, { ...by, ip: addressOf() }, now(), { action: 'audit_exported', after: { ...filter } })
      const open = () => exportAudit(sql, filter, representation.scalars)
      return reply(200, new Download({ sizeBytes: null, etag: null, open }), { 'Content-Type': ndjsonType })
    }
    const page = toPage(query, ['id'], 'id desc')
    const count = await countAudit(sql, filter)
    const range = { ...page, descending: page.order[0]!.descending }
    const rows = page.countOnly ? [] : await listAudit(sql, filter, range)
    return reply(200, toPagedList(page, count, rows.map(showEntry)))
  },
})

function toFilter({ action, key, session, target_type, target_id, ip, q, since, until }: AuditListing): AuditFilter {
  return { action, key, session, target_type, target_id, ip, q, since, until }
}

export const routes = [list]
