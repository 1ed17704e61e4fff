import { addPartitions, dropPartitions } from '../log/events.ts'
import { removeStoredResults } from '../engine/commit/idempotency.ts'
import type { Db, Sql } from '../postgres/sql.ts'
import type { Job } from './jobs.ts'
import { inPortions } from './portions.ts'

/** Answers to a POST are kept for repetition this long. */
const idempotencyMs = 24 * 3_600_000

/** Rows in one delete: few enough that requests do not wait for it. A guess. */
const batchSize = 1000

/** Any fixed number: of several nodes one rotates, the others wait and find it done. */
const rotationLock = 7_213_002

/** For how many days the logs are kept. */
type KeptDays = Parameters<typeof dropPartitions>[1]

/** What the database needs. Several nodes may do it at once. */
export function storageJobs(sql: Sql, keep: KeptDays, now: () => Date): Job[] {
  const forgetAnswers = async (signal: AbortSignal) => {
    const time = await earlierTime(sql, now())
    const before = new Date(time.getTime() - idempotencyMs)
    return inPortions(batchSize, signal, () => removeStoredResults(sql, before, batchSize))
  }
  return [
    { name: 'rotate events', periodMs: 600_000, run: () => rotateEvents(sql, keep, now()) },
    { name: 'forget answers', periodMs: 60_000, run: forgetAnswers },
    { name: 'analyse tables that have grown', periodMs: 10_000, run: () => analyseGrown(sql) },
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

/** A table has grown where more rows have changed than so many, and than so many times what it had. Guesses. */
const grownRows = 1_000
const grownTimes = 4

/**
 * Has PostgreSQL look at tables that are not what it last saw, or has never seen. It does so itself about once a minute, and
 * until then plans for an empty table: on a young deployment, which grows by thousands of rows a second, lists then read
 * whole tables. One that another node or autovacuum is looking at is left out. Answers how many there were.
 */
async function analyseGrown(sql: Sql): Promise<number> {
  const grown = await sql<{ name: string }[]>`
    select c.oid::regclass::text as name
    from pg_stat_user_tables s join pg_class c on c.oid = s.relid
    where s.schemaname = current_schema() and c.relkind = 'r'
      and s.n_mod_since_analyze > ${grownRows} + ${grownTimes} * greatest(c.reltuples, 0)`
  for (const { name } of grown) await sql.unsafe(`analyze (skip_locked) ${name}`)
  return grown.length
}
