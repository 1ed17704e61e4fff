import { expect, test } from 'vitest'
import { globalCommand } from '../../src/engine/global/command.ts'
import { GlobalCommands } from '../../src/engine/global/global-commands.ts'
import { SharedLog } from '../../src/log/shared-log.ts'
import { prepareEvents } from '../../src/jobs/storage-jobs.ts'
import { sharedLogId } from '../../src/log/events.ts'
import { createDatabase } from '../support/database.ts'
import { system } from '../support/rooms.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { slowed } from '../support/slowed.ts'

const touch = globalCommand('touch', async (work, user: number) => work.changed('user_updated', 'user', user))

test('what two nodes change at once makes one history, of which each hears all, in order and once', async () => {
  await using database = await createDatabase()
  const sql = openSql({ url: database.url, connections: 6, statementTimeoutMs: 10_000 })
  await using _ = { [Symbol.asyncDispose]: () => sql.end() }
  await prepareEvents(sql, new Date())
  const nodes = [0, 1].map(() => {
    const sharedLog = new SharedLog(sql)
    const heard: { rev: number; user: number }[] = []
    sharedLog.listen(({ rev, entity_id }) => void heard.push({ rev, user: entity_id }))
    return { sharedLog, heard, globalCommands: new GlobalCommands(sql, sharedLog, () => new Date()) }
  })
  for (const { sharedLog } of nodes) await sharedLog.start()
  const start = nodes[0]!.sharedLog.rev

  const run = async (user: number) => {
    const { globalCommands, heard } = nodes[user % nodes.length]!
    await globalCommands.run(touch, system, user)
    // Before the answer, where it was asked for.
    expect(heard.map(change => change.user)).toContain(user)
  }
  await Promise.all(Array.from({ length: 60 }, (_, user) => run(user)))
  for (const { sharedLog } of nodes) await sharedLog.poll()

  const log = await sql<{ rev: number; prev: number; user: number }[]>`
    select rev, prev, entity_id as "user" from events where app_id = ${sharedLogId} order by rev`
  expect(log).toHaveLength(60)
  expect(log.map(({ prev }) => prev)).toEqual([start, ...log.slice(0, -1).map(({ rev }) => rev)])
  for (const { heard } of nodes) expect(heard).toEqual(log.map(({ rev, user }) => ({ rev, user })))
  expect(await sql`select head_rev from environment`).toMatchObject([{ head_rev: log.at(-1)!.rev }])
})

test('who waits for a change hears of it, also where somebody was reading who came before it', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await prepareEvents(sql, new Date())
  const there = new SharedLog(sql)
  const globalCommands = new GlobalCommands(sql, there, () => new Date())
  await globalCommands.run(touch, system, 1)
  const { slow, arrived, release } = slowed(sql)
  const here = new SharedLog(slow)
  const heard: number[] = []
  here.listen(({ entity_id }) => void heard.push(entity_id))

  const earlier = here.catchUpTo(there.rev)
  await arrived
  await globalCommands.run(touch, system, 2)
  const later = here.catchUpTo(there.rev)
  release()

  await later
  expect(heard).toEqual([1, 2])
  await earlier
})
