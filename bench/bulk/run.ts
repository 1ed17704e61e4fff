import { mkdirSync } from 'node:fs'
import { openSql, type Sql } from '../../src/postgres/sql.ts'
import { ensureLoaded } from '../large/data.ts'
import { toLayout } from '../large/layout.ts'
import { toTokens } from '../large/lists.ts'
import type { LargeOptions } from '../large/run.ts'
import { withData, withServer } from '../large/serve.ts'
import { sizes } from '../large/size.ts'
import type { Latencies } from '../latencies.ts'
import { conclude, round } from '../print.ts'
import { smallRooms } from '../traffic.ts'
import { makeRooms, removeRooms } from '../world.ts'
import { fillRoom, makeRoom } from './room.ts'
import { toTasks, type Task } from './tasks.ts'
import { Writers } from './writers.ts'

/** What a task took, and how long those waited who wrote meanwhile. */
export interface Done extends Pick<Task, 'name' | 'answerMs' | 'waitMs'> {
  tookMs: number
  /** Until what follows from it was done as well. */
  doneMs: number
  waits: Latencies
}

/** Longer than any statement here takes on a slow machine; a guess. */
const statementTimeoutMs = 600_000

/**
 * Does what concerns very many rows at once while people write, and says how long they waited: false where that was too
 * long. The data is afterwards what it was, but for the place that it takes.
 */
export async function measureBulk(options: LargeOptions, say: (line: string) => void): Promise<boolean> {
  const { dir, out } = options
  const size = { ...sizes[options.size], trashed: options.trash * 10 }
  const fullness = {
    messages: size.messages / 10,
    notifications: size.notifications / 5,
    ofAuthor: size.busiest,
  }
  mkdirSync(dir, { recursive: true })
  return withData(options, async database => {
    await ensureLoaded(database, size, say)
    const sql = openSql({ url: database, connections: 2, statementTimeoutMs })
    const serve = <Result>(run: Parameters<typeof withServer<Result>>[1]) => withServer<Result>({ dir, database }, run)
    try {
      say('makes rooms of people who write, and one to delete')
      const { rooms, room } = await serve(async server => {
        const made = await makeRooms(server, smallRooms)
        const everybody = made.flatMap(({ members }) => members)
        return { rooms: made, room: await makeRoom(server, everybody) }
      })
      await fillRoom(sql, room, fullness, say)
      const unread = await listUnread(sql)
      // A database that has been in use for a while: nothing that is measured has to clean up after what made the room.
      say('vacuum')
      await sql`vacuum (analyze) messages, messages_terms, notifications`
      await sql`checkpoint`
      return await serve(async server => {
        const busiest = { token: toTokens(size).busiest }
        const writers = new Writers(server, rooms)
        const done: Done[] = []
        process.stdout.write(`${heading}\n`)
        try {
          for (const task of toTasks({ server, sql, room, loud: toLayout(size).loud, busiest })) {
            say(task.name)
            const one = await perform(task, writers)
            done.push(one)
            process.stdout.write(`${describe(one)}\n`)
          }
        } finally {
          await writers.stop()
          say('deletes what was made')
          await removeRooms(server, rooms)
          await sql`update notifications set is_unread = true, until_id = null where id = any(${unread}::bigint[])`
        }
        return conclude('bulk', done, isMissed, out)
      })
    } finally {
      await sql.end({ timeout: 1 })
    }
  })
}

async function listUnread(sql: Sql): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`select id from notifications where user_id = 1 and is_unread`
  return rows.map(({ id }) => id)
}

async function perform({ name, ask, follow, answerMs, waitMs }: Task, writers: Writers): Promise<Done> {
  const startedAt = performance.now()
  let [tookMs, doneMs] = [0, 0]
  const waits = await writers.during(async () => {
    await ask()
    tookMs = performance.now() - startedAt
    await follow?.()
    doneMs = performance.now() - startedAt
  })
  return { name, answerMs, waitMs, tookMs, doneMs, waits }
}

/** It took too long, or a message waited for too long meanwhile. */
export const isMissed = ({ tookMs, answerMs, waits, waitMs }: Done) =>
  (answerMs !== null && tookMs > answerMs) || waits.maxMs > waitMs

const heading = 'ms:       answer   limit     done      p50      p99    worst   limit'

function describe(one: Done): string {
  const { name, tookMs, answerMs, doneMs, waits, waitMs } = one
  const limit = answerMs === null ? '–' : round(answerMs, 0)
  const columns = [
    round(tookMs, 0).padStart(9),
    limit.padStart(8),
    round(doneMs, 0).padStart(9),
    ...[waits.p50Ms, waits.p99Ms, waits.maxMs].map(ms => round(ms, 1).padStart(9)),
    round(waitMs, 0).padStart(8),
  ]
  return `${isMissed(one) ? 'MISSED' : 'met   '} ${columns.join('')}  ${name}`
}
