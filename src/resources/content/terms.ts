import type { EventRow } from '../../log/events.ts'
import type { Tx } from '../../postgres/sql.ts'
import { kinds } from './kinds.ts'
import type { ContentTable } from './store.ts'

/**
 * Updates the search terms of items for some events, and for new messages that need no other processing, in the
 * transaction that moves the cursors over them. Deleted items get none.
 */
export async function keepTerms(tx: Tx, rows: readonly EventRow[], messages: readonly number[]): Promise<void> {
  for (const { entity, store } of Object.values(kinds)) {
    const own = rows.filter(({ entity_type }) => entity_type === entity)
    const plain = entity === 'message' ? messages : []
    const written = [...new Set([...plain, ...idsOf(own, [`${entity}_created`, `${entity}_updated`])])]
    const deleted = idsOf(own, [`${entity}_deleted`])
    if (written.length > 0) await writeTerms(tx, store.table, written)
    if (deleted.length > 0) await tx`delete from ${tx(`${store.table}_terms`)} where id = any(${deleted}::bigint[])`
  }
}

/** Writes the search terms of items as they are now. */
export async function writeTerms(tx: Tx, table: ContentTable, ids: number[]): Promise<void> {
  await tx`
    insert into ${tx(`${table}_terms`)} as kept (id, terms)
    select id, search_terms(app_id, coalesce(plain, text), tags) from ${tx(table)} where id = any(${ids}::bigint[])
    on conflict (id) do update set terms = excluded.terms where kept.terms <> excluded.terms`
}

function idsOf(rows: readonly EventRow[], types: string[]): number[] {
  return [...new Set(rows.filter(({ type }) => types.includes(type)).map(({ entity_id }) => entity_id))]
}
