import { expect, test } from 'vitest'
import { openActors } from '../support/actors.ts'
import { eventually } from '../support/eventually.ts'
import { openRooms, send } from '../support/rooms.ts'

test('where apps that must be kept take all the memory, another one still has one history', async () => {
  await using database = await openRooms(3)
  const { sql } = database
  const [kept, busy, other] = database.rooms as [number, number, number]
  // A node with room for no app at all.
  await using node = await openActors(database.url, { memoryBytes: 1 })
  const { apps } = node
  const unpin = await apps.pin(kept)
  await send(apps, busy)

  // All commits wait for one of them, so that what is sent meanwhile is committed together.
  const sent = await sql.begin(async tx => {
    await tx`select from apps where id = ${busy} for update`
    const held = send(apps, busy)
    await eventually(async () => {
      const waiting = await sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      expect(waiting).toHaveLength(1)
    })
    const first = send(apps, other)
    await eventually(() => expect(apps.waiting).toBe(2))
    const second = send(apps, other)
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
