import { every, type Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { addPartitions, dropPartitions } from './events.ts'
import type { Sql } from './sql.ts'

/** Work that comes round again and again. */
export interface Chore {
  name: string
  periodMs: number
  run: () => Promise<void>
}

interface Keeping {
  clock: Clock
  log: Log
  signal: AbortSignal
}

/** Answers to a POST are kept for repetition this long. */
const idempotencyHours = 24

/** Rows in one delete: few enough that nobody waits for it. A guess. */
const batchSize = 1000

/** Any fixed number: of several nodes one rotates, the others wait and find it done. */
const rotationLock = 7_213_002

/**
 * Does each chore, again and again, until the signal aborts. A chore that fails is logged, once until it succeeds
 * again, and has its next turn as usual. Nothing is lost if the process dies: every chore picks up what is left.
 */
export function keepHouse(chores: Chore[], { clock, log, signal }: Keeping): void {
  for (const { name, periodMs, run } of chores) {
    let hasFailed = false
    every(clock, periodMs, signal, async () => {
      try {
        await run()
        if (hasFailed) log.info({ chore: name }, 'A chore succeeds again')
        hasFailed = false
      } catch (error) {
        if (!hasFailed) log.warn({ chore: name, error }, 'A chore failed; it is tried again')
        hasFailed = true
      }
    })
  }
}

/** What the database needs. Several nodes may do it at once. */
export function storageChores(sql: Sql, eventDays: number, now: () => Date): Chore[] {
  return [
    { name: 'rotate events', periodMs: 600_000, run: () => rotateEvents(sql, eventDays, now()) },
    { name: 'forget answers', periodMs: 60_000, run: () => repeat(() => removeOldAnswers(sql, now())) },
    { name: 'forget tokens', periodMs: 60_000, run: () => repeat(() => removeExpiredTokens(sql, now())) },
  ]
}

/** Makes room for the events of the days to come; to be done before the first event is written, too. */
export async function prepareEvents(sql: Sql, now: Date): Promise<void> {
  await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(${rotationLock})`
    await addPartitions(tx, now)
  })
}

async function rotateEvents(sql: Sql, keepDays: number, now: Date): Promise<void> {
  await prepareEvents(sql, now)
  await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(${rotationLock})`
    // Dropping locks the log: rather at the next turn than behind a long query, with everybody queueing.
    await tx`set local lock_timeout = '200ms'`
    await dropPartitions(tx, keepDays, now)
  })
}

async function repeat(removeBatch: () => Promise<number>): Promise<void> {
  while ((await removeBatch()) === batchSize);
}

/** Served by idempotency_age. */
async function removeOldAnswers(sql: Sql, now: Date): Promise<number> {
  const before = new Date(now.getTime() - idempotencyHours * 3_600_000)
  const { count } = await sql`
    delete from idempotency where key in (
      select key from idempotency where created_at < ${before}
      order by created_at limit ${batchSize} for update skip locked)`
  return count
}

/** Served by tokens_expiry. */
async function removeExpiredTokens(sql: Sql, now: Date): Promise<number> {
  const { count } = await sql`
    delete from tokens where hash in (
      select hash from tokens where expires_at < ${now}
      order by expires_at limit ${batchSize} for update skip locked)`
  return count
}
