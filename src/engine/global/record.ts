import type { IdempotencyKey } from '../../api/idempotency-key.ts'
import { sharedLogId, type EventRow } from '../../log/events.ts'
import { drawsFor, numbersOf } from '../../log/id-pool.ts'
import { writeRows } from '../../postgres/batch.ts'
import type { Tx } from '../../postgres/sql.ts'
import { insertIdempotencyRows } from '../commit/idempotency.ts'
import { toEventRow } from '../event.ts'
import type { GlobalWork } from './command.ts'

/** A command that has run, with what its commit has to write beside the command's own statements. */
export interface Done {
  work: GlobalWork
  result: unknown
  /** The key to store the result under. */
  idempotencyKey: IdempotencyKey | undefined
}

/**
 * Writes the declared rows, the events and the stored results of commands. The row of the shared log is locked last, so
 * that the lock is held for as short as possible. Three round trips with the commit, for any number of commands. Returns
 * the new head rev of the shared log, or 0 where it has not moved.
 */
export async function record(tx: Tx, done: Done[]): Promise<number> {
  await writeRows(
    tx,
    done.flatMap(({ work, result, idempotencyKey }) => {
      if (idempotencyKey !== undefined)
        work.write(insertIdempotencyRows, { ...idempotencyKey, result: result ?? null, created_at: work.now })
      return work.writes
    }),
  )
  const first = done.flatMap(({ work }) => work.events.map(toEventRow))
  const changes = done.flatMap(({ work: { changes, by, now } }) => changes.map(event => ({ event, by, now })))
  if (changes.length === 0) {
    if (first.length > 0) await insertEvents(tx, first)
    return 0
  }
  // PostgreSQL runs the statements in this order, so that the numbers are drawn under the lock.
  const [[sharedRev], [drawn]] = await Promise.all([
    tx<{ head_rev: number }[]>`select head_rev from environment for update`,
    tx<{ firsts: number[] }[]>`
      select array(select nextval('numbers') from generate_series(1, ${drawsFor(changes.length)}::int)) as firsts`,
  ])
  let prev = sharedRev!.head_rev
  const revs = numbersOf(drawn!.firsts)
  const rows = changes.map(({ event, by, now }, at): EventRow => {
    const row = { app_id: sharedLogId, rev: revs[at]!, prev, actor_id: by.user, created_at: now, ...event }
    prev = row.rev
    return row
  })
  await Promise.all([insertEvents(tx, [...first, ...rows]), tx`update environment set head_rev = ${prev}`])
  return prev
}

async function insertEvents(tx: Tx, rows: EventRow[]): Promise<void> {
  await tx`
    insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, facts, created_at)
    select app_id, rev, prev, type, actor_id, entity_type, entity_id, facts, created_at
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as r(
      app_id bigint, rev bigint, prev bigint, type text, actor_id bigint, entity_type text, entity_id bigint, facts jsonb,
      created_at timestamptz)`
}
