import { addPartitions, dropPartitions } from '../log/events.ts'
import { removeForwardedKeys, removeStoredResults } from '../engine/commit/idempotency.ts'
import type { Db, Sql } from '../postgres/sql.ts'
import type { Job } from './jobs.ts'
import { inPortions } from './portions.ts'

/** Answers to a POST are kept for repetition this long. */
const idempotencyMs = 24 * 3_600_000

/** And those to commands that one node asked of another: it repeats them within seconds, if at all. A guess. */
const forwardedMs = 15 * 60_000

/** Rows in one delete: few enough that requests do not wait for it. A guess. */
const batchSize = 1000

/** Any fixed number: of several nodes one rotates, the others wait and find it done. */
const rotationLock = 7_213_002

/** For how many days the logs are kept. */
type KeptDays = Parameters<typeof dropPartitions>[1]

/** What the database needs. Several nodes may do it at once. */
export function storageJobs(sql: Sql, keep: KeptDays, now: () => Date): Job[] {
  const removeOlder = (remove: typeof removeStoredResults, keptMs: number) => async (signal: AbortSignal) => {
    const time = await earlierTime(sql, now())
    const before = new Date(time.getTime() - keptMs)
    return inPortions(batchSize, signal, () => remove(sql, before, batchSize))
  }
  return [
    { name: 'rotate events', periodMs: 600_000, run: () => rotateEvents(sql, keep, now()) },
    { name: 'forget answers', periodMs: 60_000, run: removeOlder(removeStoredResults, idempotencyMs) },
    {
      name: 'forget commands of other nodes',
      periodMs: 60_000,
      run: removeOlder(removeForwardedKeys, forwardedMs),
    },
  ]
}

/** Makes room for the events of the days to come; to be done before the first event is written, too. */
export async function prepareEvents(sql: Sql, now: Date): Promise<void> {
  await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(${rotationLock})`
    await addPartitions(tx, now)
  })
}

async function rotateEvents(sql: Sql, keep: KeptDays, now: Date): Promise<void> {
  await prepareEvents(sql, now)
  await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(${rotationLock})`
    // Dropping locks the log: rather at the next turn than behind a long query, with everybody queueing.
    await tx`set local lock_timeout = '200ms'`
    await dropPartitions(tx, keep, await earlierTime(tx, now))
  })
}

/**
 * That of this node or of PostgreSQL. What is deleted is gone for every node, so it has to be old by both clocks: one
 * that is ahead would take what is written today for old.
 */
export async function earlierTime(db: Db, now: Date): Promise<Date> {
  const [row] = await db<{ time: Date }[]>`select least(now(), ${now}) as time`
  return row!.time
}
