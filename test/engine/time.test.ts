import { expect, test } from 'vitest'
import { messageCommands } from '../../src/resources/messages/kind.ts'
import { openActors } from '../support/actors.ts'
import { openRooms, send, system } from '../support/rooms.ts'

test('what is made later is no older, whatever the clocks of nodes say, and whatever has become of what was there', async () => {
  await using database = await openRooms(1)
  const { sql } = database
  const room = database.rooms[0]!
  const clocks = { right: 0, fast: 5_000, slow: -5_000 }
  const open = (ahead: number) => openActors(database.url, { now: () => new Date(Date.now() + ahead) })
  await using right = await open(clocks.right)
  await using fast = await open(clocks.fast)
  await using slow = await open(clocks.slow)

  const first = await send(right.apps, room)
  const ahead = await send(fast.apps, room)
  await fast.apps.run(messageCommands.remove, room, system, { id: ahead.id })
  const sent = [await send(slow.apps, room), await send(right.apps, room), await send(slow.apps, room)]
  // A node that has seen none of it.
  await using other = await open(clocks.slow)
  sent.push(await send(other.apps, room))

  expect(ahead.created_at.getTime() - first.created_at.getTime()).toBeGreaterThan(4_000)
  const times = [first, ahead, ...sent].map(({ created_at }) => created_at.getTime())
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  const stored = await sql<{ id: number }[]>`select id from messages order by created_at, id`
  expect(stored.map(({ id }) => id)).toEqual([first, ...sent].map(({ id }) => id))
  const events = await sql<{ rev: number }[]>`select rev from events order by created_at, rev`
  expect(events.map(({ rev }) => rev)).toEqual(events.map(({ rev }) => rev).toSorted((a, b) => a - b))
})
