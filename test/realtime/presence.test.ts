import { expect, test } from 'vitest'
import { ManualClock } from '../support/manual-clock.ts'
import { eventually } from '../support/eventually.ts'
import { Presence } from '../../src/presence/presence.ts'
import { joinHub } from '../support/hub.ts'
import { listen } from '../support/realtime.ts'
import { startServer, type Person } from '../support/server.ts'

test('people count as active for five minutes after a request', () => {
  const clock = new ManualClock()
  const seen = new Map<number, number>()
  const presence = new Presence({ seen, clock })
  const before = presence.isActive(1)

  seen.set(1, clock.now())
  const after = presence.isActive(1)
  clock.advance(5 * 60_000)
  const inTime = presence.isActive(1)
  clock.advance(1)

  expect([before, after, inTime, presence.isActive(1)]).toEqual([false, true, true, false])
  expect([...presence.active()]).toEqual([])
})

test('whoever closes the last connection goes away soon after, unless a request follows', () => {
  const clock = new ManualClock()
  const seen = new Map([[1, clock.now()]])
  const presence = new Presence({ seen, clock })
  presence.arrive(1)
  presence.arrive(1)

  presence.leave(1)
  clock.advance(10_000)
  const withOne = presence.isActive(1)
  presence.leave(1)
  const atOnce = presence.isActive(1)
  clock.advance(5_001)
  const later = presence.isActive(1)
  seen.set(1, clock.now())

  expect([withOne, atOnce, later, presence.isActive(1)]).toEqual([true, true, false, true])
})

test('that somebody has gone away is news when they have, not when they may yet come back', () => {
  const clock = new ManualClock()
  const presence = new Presence({ seen: new Map(), clock })
  presence.arrive(1)
  presence.arrive(2)
  const before = presence.version

  presence.leave(1)
  const atOnce = presence.version
  clock.advance(5_001)
  const later = presence.version

  expect([atOnce, later, presence.version]).toEqual([before, before + 1, before + 1])
  expect([...presence.active()]).toEqual([2])
})

test('the API shows people as active while they have a connection of either kind', async () => {
  await using server = await startServer()
  const { people } = await server.chatWith(3)
  const [ann, ben, eve] = people
  await using _ = await joinHub(server.url, { token: () => ann.token })
  await using __ = await listen(server.url, { token: ben.token })
  const presenceOf = async (id: string) => (await server.admin.get(`/api/users/${id}`)).body.presence

  expect([await presenceOf(ann.id), await presenceOf(ben.id), await presenceOf(eve.id)]).toEqual([
    'active',
    'active',
    'away',
  ])
})

test('clients are told who is online of those whom they can see, as a whole list of numbers', async () => {
  await using server = await startServer()
  const { body: acme } = await server.admin.post('/api/directories', { name: 'acme' })
  // One after the other, so that they are listed in this order.
  const ann = await server.person('Ann')
  const ben = await server.person('Ben')
  const eve = await server.person('Eve')
  const kim = await server.person('Kim')
  for (const person of [eve, kim]) await server.admin.put(`/api/directories/${acme.id}/members/${person.id}`)
  await using first = await joinHub(server.url, { token: () => ann.token })
  await using other = await joinHub(server.url, { token: () => eve.token })
  await first.subscribe('online')
  await other.subscribe('online')
  expect(await first.hear('online')).toEqual([Number(ann.id)])
  expect(await other.hear('online')).toEqual([Number(eve.id)])

  await using _ = await listen(server.url, { token: ben.token })
  expect(await first.hear('online')).toEqual([Number(ann.id), Number(ben.id)])
  // Who share an app see each other.
  await server.admin.post('/api/apps', { type: 'chat_room', members: [ann.id, kim.id] })
  await using __ = await listen(server.url, { token: kim.token })
  expect(await first.hear('online')).toEqual([Number(ann.id), Number(ben.id), Number(kim.id)])
  expect(await other.hear('online')).toEqual([Number(eve.id), Number(kim.id)])
})

test('a native client is told who is online from when it asks for it until it wants that no more', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
  await using inbox = await listen(server.url, { token: ann.token, scalars: 'number' })
  await inbox.settle()
  expect(inbox.frames).toEqual([])

  inbox.say({ type: 'online', is_wanted: true })
  const first = await inbox.hear('online')
  await using _ = await listen(server.url, { token: ben.token })
  const second = await inbox.hear('online')
  inbox.say({ type: 'online', is_wanted: false })
  await inbox.settle()
  await using __ = await listen(server.url, { token: eve.token })
  await using hub = await joinHub(server.url, { token: () => ben.token })
  await hub.subscribe('online')
  await hub.hear('online')

  expect(first).toEqual({ type: 'online', users: [Number(ann.id)] })
  expect(second).toEqual({ type: 'online', users: [Number(ann.id), Number(ben.id)] })
  expect(inbox.frames).toEqual([])
})

test('whoever opens another connection is told who is online there, though nobody came or went', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await using first = await joinHub(server.url, { token: () => ann.token })
  await first.subscribe('online')
  await first.hear('online')
  await using second = await joinHub(server.url, { token: () => ann.token })

  await second.subscribe('online')

  expect(await second.hear('online')).toEqual([Number(ann.id)])
})

test('who is online is no business of those with whom they share nothing but a closed app', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'acme' })
  const [ann, ben, eve, kim] = [
    await server.person('Ann'),
    await server.person('Ben'),
    await server.person('Eve'),
    await server.person('Kim'),
  ]
  for (const { id } of [ben, eve, kim]) await server.admin.put(`/api/directories/acme/members/${id}`)
  const roomWith = async ({ id }: Person) =>
    (await server.admin.post('/api/apps', { type: 'chat_room', members: [ann.id, id] })).body.id as string
  // One room is trashed, of one she is kept out, and of one the other is.
  await server.admin.post(`/api/apps/${await roomWith(ben)}/trash`)
  await server.admin.put(`/api/apps/${await roomWith(eve)}/members/${eve.id}`, { access: 'none' })
  await server.admin.put(`/api/apps/${await roomWith(kim)}/members/${ann.id}`, { access: 'none' })

  await using hub = await joinHub(server.url, { token: () => ann.token })
  for (const person of [ben, eve, kim]) await person.get('/api/user')
  await hub.subscribe('online')

  expect(await hub.hear('online')).toEqual([Number(ann.id)])
})

test('whoever is in the trash is not online, however lately they asked for something', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await ben.get('/api/user')
  await server.admin.post(`/api/users/${ben.id}/trash`)

  await using hub = await joinHub(server.url, { token: () => ann.token })
  await hub.subscribe('online')

  expect(await hub.hear('online')).toEqual([Number(ann.id)])
})

test('hundreds who come at once are each told of all in a handful of lists', { timeout: 60_000 }, async () => {
  await using server = await startServer()
  const crowd = await Promise.all(Array.from({ length: 200 }, () => server.person('Crowd')))

  const hubs = await Promise.all(crowd.map(({ token }) => joinHub(server.url, { token: () => token })))
  await Promise.all(hubs.map(hub => hub.subscribe('online')))
  await eventually(() => {
    for (const { told } of hubs) expect(told.at(-1)?.payload).toHaveLength(crowd.length)
  })

  expect(Math.max(...hubs.map(({ told }) => told.length))).toBeLessThan(6)
  await Promise.all(hubs.map(hub => hub[Symbol.asyncDispose]()))
})
