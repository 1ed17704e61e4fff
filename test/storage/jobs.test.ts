import { expect, test } from 'vitest'
import type { Clock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import type { CommitLook } from '../../src/jobs/commit-look.ts'
import { inPortions } from '../../src/jobs/portions.ts'
import { startJobs, type JobTurn } from '../../src/jobs/jobs.ts'
import { earlierTime, prepareEvents, storageJobs } from '../../src/jobs/storage-jobs.ts'
import { jobs as tokenJobs } from '../../src/resources/tokens/jobs.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'

const now = new Date()
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000)

test('answers to POST requests are forgotten after a day, however many there are', async () => {
  await using database = await createDatabase()
  await insertAnswers(database.sql, 2500, hoursAgo(25))
  await insertAnswers(database.sql, 3, hoursAgo(23))

  await doJobs(database.sql)

  expect(await database.sql`select count(*) from idempotency`).toMatchObject([{ count: 3 }])
})

test('tokens are forgotten when they have expired', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await sql`insert into tokens (hash, user_id, created_at, expires_at) values
    ('\\x01', 0, ${hoursAgo(3)}, ${hoursAgo(2)}), ('\\x02', 0, ${hoursAgo(3)}, ${hoursAgo(-1)})`

  await doJobs(sql)

  expect(await sql`select hash from tokens`).toMatchObject([{ hash: Buffer.from([2]) }])
})

test('the log has room for the days to come, and loses the days that are over', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await prepareEvents(sql, hoursAgo(24 * 9))

  await doJobs(sql)

  expect(await listDays(sql)).toEqual([-7, -6, 0, 1, 2, 3].map(partitionOf))
})

test('a node whose clock is a year ahead forgets nothing before its time', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await prepareEvents(sql, now)
  await insertAnswers(sql, 3, now)
  await sql`insert into tokens (hash, user_id, created_at, expires_at) values ('\\x01', 0, ${now}, ${hoursAgo(-1)})`

  await doJobs(sql, hoursAgo(-24 * 365))

  expect(await listDays(sql)).toEqual(expect.arrayContaining([0, 1, 2, 3].map(partitionOf)))
  expect(await sql`select count(*) from idempotency`).toMatchObject([{ count: 3 }])
  expect(await sql`select hash from tokens`).toHaveLength(1)
})

test('a backup that reads the log for hours keeps days that are over from going, and events from nothing', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await prepareEvents(sql, hoursAgo(24 * 9))
  const backup = await sql.reserve()
  await backup`begin`
  await backup`select * from events`
  const rotate = () =>
    storageJobs(sql, { eventDays: 7, auditDays: 365 }, () => now)[0]!.run(new AbortController().signal)

  await expect(rotate()).rejects.toThrow('lock timeout')

  await sql`insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, created_at)
    values (1, 1, 0, 'app_created', 0, 'app', 1, ${now})`
  await backup`rollback`
  backup.release()
  expect(await listDays(sql)).toContain(partitionOf(-9))
  await rotate()
  expect(await listDays(sql)).not.toContain(partitionOf(-9))
})

test('several nodes may keep one house at the same time', async () => {
  await using database = await createDatabase()
  await insertAnswers(database.sql, 2500, hoursAgo(25))
  await prepareEvents(database.sql, hoursAgo(24 * 9))

  const nodes = [1, 2, 3, 4].map(() => doJobs(database.sql))

  await expect(Promise.all(nodes)).resolves.toBeDefined()
  expect(await database.sql`select count(*) from idempotency`).toMatchObject([{ count: 0 }])
})

test('a job that fails is told once and tried again, and the signal ends it', async () => {
  const clock = new HandClock()
  const lines: string[] = []
  const log = createLog('info', line => void lines.push(line))
  const stopping = new AbortController()
  let turns = 0
  const run = async () => {
    turns++
    if (turns < 3) throw new Error('not yet')
  }

  startJobs([{ name: 'sweep', periodMs: 1000, run }], { clock, log, signal: stopping.signal })
  for (let i = 0; i < 4; i++) await clock.tick()
  stopping.abort()
  await clock.tick()

  expect(turns).toBe(4)
  expect(lines.map(line => JSON.parse(line).message)).toEqual([
    'A job failed; it is tried again',
    'A job succeeds again',
  ])
})

test('the turn of a job says how many rows it changed, where the job counts them', async () => {
  const clock = new HandClock()
  const stopping = new AbortController()
  const turns: Pick<JobTurn, 'name' | 'rows'>[] = []
  const jobs = [
    { name: 'counts', periodMs: 1000, run: async () => 3 },
    { name: 'does not count', periodMs: 1000, run: async () => {} },
  ]

  const onTurn = ({ name, rows }: JobTurn) => turns.push({ name, rows })
  startJobs(jobs, { clock, log: createLog('error'), signal: stopping.signal, onTurn })
  await clock.tick()
  stopping.abort()

  expect(turns).toEqual([
    { name: 'counts', rows: 3 },
    { name: 'does not count', rows: null },
  ])
})

test('a job that follows commits rests until something is committed and its condition holds, unless it failed or has more to do', async () => {
  const clock = new HandClock()
  const stopping = new AbortController()
  const outcomes: (() => boolean | void)[] = []
  let turns = 0
  let snapshot = 'one'
  let isDue = true
  const run = async () => {
    turns++
    return outcomes.shift()?.()
  }
  const look = async () => toLook({ snapshot, values: [isDue] })
  const turnsAfter = async (...next: (() => boolean | void)[]) => {
    outcomes.push(...next)
    const before = turns
    for (let i = 0; i < 4; i++) await clock.tick()
    return turns - before
  }
  const log = createLog('error')
  const fail = () => {
    throw new Error('away')
  }

  startJobs([{ name: 'follow', periodMs: 1000, dueWhere: 'true', run }], { clock, log, signal: stopping.signal, look })

  expect(await turnsAfter()).toBe(1)
  expect(await turnsAfter()).toBe(0)
  snapshot = 'two'
  expect(await turnsAfter(() => false)).toBe(2)
  snapshot = 'three'
  expect(await turnsAfter(fail, fail)).toBe(3)
  snapshot = 'four'
  isDue = false
  expect(await turnsAfter()).toBe(0)
  isDue = true
  expect(await turnsAfter()).toBe(1)
  stopping.abort()
})

test('a job that is due with a value rests while the value is the same, whatever is committed, unless PostgreSQL was started anew', async () => {
  const clock = new HandClock()
  const stopping = new AbortController()
  let found = toLook({})
  let turns = 0
  const run = async () => void turns++
  const turnsWith = async (next: Partial<CommitLook>) => {
    found = { ...found, ...next }
    const before = turns
    for (let i = 0; i < 3; i++) await clock.tick()
    return turns - before
  }
  const jobs = [{ name: 'follow', periodMs: 1000, dueWith: 'select 7', run }]

  startJobs(jobs, { clock, log: createLog('error'), signal: stopping.signal, look: async () => found })

  expect(await turnsWith({ values: [7] })).toBe(1)
  expect(await turnsWith({ snapshot: 'two' })).toBe(0)
  expect(await turnsWith({ values: [8] })).toBe(1)
  expect(await turnsWith({ server: 'another' })).toBe(1)
  stopping.abort()
})

test('what only finds commits of other nodes has one turn in ten where there are none, and each of them as soon as there are', async () => {
  const clock = new HandClock()
  const stopping = new AbortController()
  let looks = 0
  let turns = 0
  let hasOthers = false
  let isAway = false
  const look = async () => {
    if (isAway) throw new Error('away')
    return toLook({ snapshot: `${looks++}`, values: [true], hasOthers })
  }
  const run = async () => void turns++
  const turnsIn = async (ticks: number) => {
    const before = turns
    for (let i = 0; i < ticks; i++) await clock.tick()
    return turns - before
  }
  const jobs = [{ name: 'follow', periodMs: 1000, dueWhere: 'true', isOfOthers: true, run }]
  const log = createLog('error', () => {})

  startJobs(jobs, { clock, log, signal: stopping.signal, look })

  expect(await turnsIn(10)).toBe(10)
  expect(await turnsIn(40)).toBe(4)
  hasOthers = true
  expect(await turnsIn(3)).toBe(3)
  hasOthers = false
  expect(await turnsIn(10)).toBe(10)
  await turnsIn(20)
  isAway = true
  await turnsIn(1)
  isAway = false
  expect(await turnsIn(5)).toBe(5)
  stopping.abort()
})

test('what follows commits does not begin any more when the jobs have been ended', async () => {
  const clock = new HandClock()
  const stopping = new AbortController()
  const found = Promise.withResolvers<CommitLook>()
  let turns = 0
  const run = async () => void turns++
  const jobs = [{ name: 'follow', periodMs: 1000, dueWhere: 'true', run }]
  const log = createLog('error')
  const ended = startJobs(jobs, { clock, log, signal: stopping.signal, look: () => found.promise })
  await clock.tick()

  stopping.abort()
  const end = ended()
  found.resolve(toLook({ values: [true] }))
  await end

  expect(turns).toBe(0)
})

test('whoever ends the jobs can wait for the one under way, which stops after its portion', async () => {
  const clock = new HandClock()
  const stopping = new AbortController()
  const portion = Promise.withResolvers<number>()
  let portions = 0
  const run = async (signal: AbortSignal) => {
    await inPortions(10, signal, () => {
      portions++
      return portion.promise
    })
  }
  const log = createLog('error')
  const ended = startJobs([{ name: 'sweep', periodMs: 1000, run }], { clock, log, signal: stopping.signal })
  await clock.tick()

  stopping.abort()
  let hasEnded = false
  const end = ended().then(() => (hasEnded = true))
  await clock.tick()
  const wasWaiting = !hasEnded
  portion.resolve(10)
  await end

  expect(wasWaiting).toBe(true)
  expect(portions).toBe(1)
})

async function doJobs(sql: Sql, at = now): Promise<void> {
  const { signal } = new AbortController()
  const past = () => earlierTime(sql, at)
  const jobs = [...storageJobs(sql, { eventDays: 7, auditDays: 365 }, () => at), ...tokenJobs({ sql, past })]
  for (const { run } of jobs) await run(signal)
}

function toLook(look: Partial<CommitLook>): CommitLook {
  return { snapshot: 'one', server: 'this', values: [], hasOthers: false, ...look }
}

/** The partitions of the log, oldest first. */
async function listDays(sql: Sql): Promise<string[]> {
  const days = await sql<{ name: string }[]>`
    select relid::text as name from pg_partition_tree('events') where isleaf and level = 1 order by 1`
  return days.map(({ name }) => name)
}

function partitionOf(day: number): string {
  return `events_${hoursAgo(-24 * day)
    .toISOString()
    .slice(0, 10)
    .replaceAll('-', '_')}`
}

async function insertAnswers(sql: Sql, count: number, createdAt: Date): Promise<void> {
  await sql`
    insert into idempotency (key, request, result, created_at)
    select sha256((${createdAt.toISOString()} || i)::bytea), '', '{}', ${createdAt} from generate_series(1, ${count}::int) i`
}

test('what is removed in portions rests after each but the last, where it is given a clock', async () => {
  const clock = new HandClock()
  const portions = [10, 10, 4]
  const { signal } = new AbortController()
  const removed = inPortions(10, signal, async () => portions.shift() ?? 0, clock)
  const left: number[] = []

  for (let i = 0; i < 3; i++) {
    await clock.tick()
    left.push(portions.length)
  }

  expect(left).toEqual([2, 1, 0])
  expect(await removed).toBe(24)
})

/** Time that passes when the test says so: each tick calls what waits. */
class HandClock implements Clock {
  #waiting: (() => void)[] = []

  now(): number {
    return 0
  }

  after(_delayMs: number, run: () => void): () => void {
    this.#waiting.push(run)
    return () => {
      this.#waiting = this.#waiting.filter(one => one !== run)
    }
  }

  async tick(): Promise<void> {
    for (const run of this.#waiting.splice(0)) run()
    await new Promise(resolve => setImmediate(resolve))
  }
}
