import { expect, test } from 'vitest'
import { systemUser, type Principal } from '../../src/actors/principal.ts'
import { parseText } from '../../src/resources/content/text/render.ts'
import { messageCommands } from '../../src/resources/messages/kind.ts'
import { prepareEvents } from '../../src/storage/housekeeping.ts'
import { openActors } from '../support/actors.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const system: Principal = { kind: 'key', user: systemUser, credential: '' }

/** A node with room for no app at all, and some chat rooms. */
async function openCrowded() {
  const database = await createDatabase()
  const { sql } = database
  await prepareEvents(sql, new Date())
  const rows = await sql<{ id: number }[]>`
    insert into apps (type, rev, head_rev, created_at, created_by)
    select 'chat_room', 1, 1, now(), 0 from generate_series(1, 3) returning id`
  const node = await openActors(database.url, { memoryBytes: 1 })
  const send = (app: number) =>
    node.apps.run(messageCommands.create, app, system, {
      text: parseText('hello'),
      metadata: null,
      tags: [],
      parts: null,
    })
  return {
    sql,
    apps: node.apps,
    rooms: rows.map(({ id }) => id),
    send,
    async [Symbol.asyncDispose]() {
      for (const part of [node, database]) await part[Symbol.asyncDispose]()
    },
  }
}

test('where apps that must be kept take all the memory, another one still has one history', async () => {
  await using crowded = await openCrowded()
  const { sql, apps, send } = crowded
  const [kept, busy, other] = crowded.rooms as [number, number, number]
  const unpin = await apps.pin(kept)
  await send(busy)

  // All commits wait for one of them, so that what is sent meanwhile is committed together.
  const sent = await sql.begin(async tx => {
    await tx`select from apps where id = ${busy} for update`
    const held = send(busy)
    await eventually(async () => {
      const waiting = await sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      expect(waiting).toHaveLength(1)
    })
    const first = send(other)
    await eventually(() => expect(apps.waiting).toBe(2))
    const second = send(other)
    await eventually(() => expect(apps.waiting).toBe(3))
    return { all: [held, first, second] }
  })
  await Promise.all(sent.all)
  unpin()

  const events = await sql<{ rev: number; prev: number }[]>`
    select rev, prev from events where app_id = ${other} order by rev`
  expect(events.map(({ prev }) => prev)).toEqual([1, events[0]!.rev])
  expect(await sql`select item_count from apps where id = ${other}`).toEqual([{ item_count: 2 }])
})
