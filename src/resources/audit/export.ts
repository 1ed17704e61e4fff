import { Readable } from 'node:stream'
import { listAuditBefore, type AuditFilter } from '../../audit/store.ts'
import { writeJson, type Scalars } from '../../api/json.ts'
import type { Sql } from '../../postgres/sql.ts'
import { showEntry } from './represent.ts'

export const ndjsonType = 'application/x-ndjson'

/** Entries that are read at once. A guess: some 100 KB. */
const portion = 500

/** All entries of a filter, newest first, one JSON text a line, read as fast as the client takes them. */
export function exportAudit(sql: Sql, filter: AuditFilter, scalars: Scalars): Readable {
  async function* lines() {
    let before = Number.MAX_SAFE_INTEGER
    for (;;) {
      const rows = await listAuditBefore(sql, filter, before, portion)
      if (rows.length > 0) yield rows.map(row => `${writeJson(showEntry(row), scalars)}\n`).join('')
      if (rows.length < portion) return
      before = rows.at(-1)!.id
    }
  }
  return Readable.from(lines(), { objectMode: false })
}
