import { expect, test } from 'vitest'
import { openClusterNode } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { redisIsMissing, startRedis } from '../support/redis.ts'
import { openRooms, send } from '../support/rooms.ts'

if (redisIsMissing !== null) console.warn(`What nodes tell each other is not tested: ${redisIsMissing}.`)
const withRedis = test.skipIf(redisIsMissing !== null)

withRedis('events reach a node whose clients follow the app without a question to PostgreSQL', async () => {
  await using redis = await startRedis()
  await using database = await openRooms(1)
  const room = database.rooms[0]!
  await using here = await openClusterNode(database.url, redis.url)
  await using there = await openClusterNode(database.url, redis.url)
  const heard: string[] = []
  await there.apps.pin(room)
  there.apps.onCommit(({ events }, { recent }) => heard.push(...events.map(() => recent.items.at(-1)!.text!)))
  // Until it is known here that the other node follows the room.
  await eventually(async () => {
    await send(here.apps, room, { text: 'before' })
    expect(heard.length).toBeGreaterThan(0)
  })
  await eventually(() => expect(there.apps.current(room)?.app).toEqual(here.apps.current(room)?.app))
  heard.length = 0

  // Both of its connections are taken meanwhile.
  await there.sql.begin(() =>
    there.sql.begin(async () => {
      for (const text of ['one', 'two', 'three']) await send(here.apps, room, { text })
      await eventually(() => expect(heard).toEqual(['one', 'two', 'three']))
    }),
  )

  expect(there.apps.current(room)?.app).toEqual(here.apps.current(room)?.app)
  expect(there.apps.current(room)?.recent.items).toEqual(here.apps.current(room)?.recent.items)
})

withRedis('an app that nobody is subscribed to is read when it is used again, and not before', async () => {
  await using redis = await startRedis()
  await using database = await openRooms(1)
  const room = database.rooms[0]!
  await using here = await openClusterNode(database.url, redis.url)
  await using there = await openClusterNode(database.url, redis.url)
  const before = await there.apps.state(room)
  const hearing = there.hearsOf(room)

  const { id } = await send(here.apps, room)
  await hearing

  expect(there.apps.peek(room)?.app.last_id).toBeNull()
  expect(there.apps.current(room)).toBeUndefined()
  expect((await there.apps.state(room)).app.last_id).toBe(id)
  expect(await there.apps.state(room)).toBe(before)
})
