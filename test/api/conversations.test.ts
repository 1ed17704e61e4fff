import { expect, test } from 'vitest'
import { insertAgent } from '../support/agent.ts'
import type { Body } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { startServer, type Person } from '../support/server.ts'

test('a room without a name is called by its other members in joining order, and by its own alone', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = await Promise.all(['Ann', 'Ben', 'Eve'].map(server.person))
  const { body: room } = await ann!.post('/api/apps', { type: 'chat_room' })
  const path = `/api/apps/${room.id}`
  const nameFor = async (one: Pick<Person, 'get'>) => (await one.get(path)).body.name

  expect(room.name).toBe('Ann')
  await ann!.put(`${path}/members/${eve!.id}`)
  await ann!.put(`${path}/members/${ben!.id}`)
  expect(await Promise.all([ann!, ben!, eve!, server.admin].map(nameFor))).toEqual([
    'Eve, Ben',
    'Ann, Eve',
    'Ann, Ben',
    'Ann, Eve, Ben',
  ])

  await server.admin.patch(`/api/users/${eve!.id}`, { name: 'Evelyn' })
  expect(await nameFor(ann!)).toBe('Evelyn, Ben')
  expect((await ann!.get('/api/apps?q=evel&order_by=name')).body.data).toMatchObject([{ name: 'Evelyn, Ben' }])
  await ann!.patch(path, { name: 'Team' })
  expect(await nameFor(ben!)).toBe('Team')
  await ann!.patch(path, { name: null })
  expect(await nameFor(ann!)).toBe('Evelyn, Ben')
  await server.admin.patch(`/api/users/${eve!.id}`, { name: '😀'.repeat(128) })
  await server.admin.patch(`/api/users/${ben!.id}`, { name: `x${'😀'.repeat(127)}` })
  const long = await nameFor(ann!)
  expect([long.isWellFormed(), Array.from(long).length]).toEqual([true, 256])
})

test('rooms and other apps may be made any number of times; a chat without a name has none', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]

  const rooms = await Promise.all([1, 2].map(() => ann.post('/api/apps', { type: 'chat_room', members: [ben.id] })))
  const chat = await ann.post('/api/apps', { type: 'chat' })

  expect(rooms[0]!.body.id).not.toBe(rooms[1]!.body.id)
  expect(chat.body).not.toHaveProperty('name')
  // The UI kit names chats by their first message, whoever of those that may write sees it first.
  await server.admin.put(`/api/apps/${chat.body.id}/members/${ben.id}`)
  expect((await ben.patch(`/api/apps/${chat.body.id}`, { name: 'Hello' })).body.name).toBe('Hello')
  expect((await ben.patch(`/api/apps/${chat.body.id}`, { name: 'Hello' })).status).toBe(200)
  expect((await ben.patch(`/api/apps/${chat.body.id}`, { name: 'Other' })).status).toBe(403)
})

test('an agent chat is between one person, who administers it, and one agent; there may be several', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const [helper, critic] = [await insertAgent(database.url, 'helper'), await insertAgent(database.url, 'critic')]
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await server.admin.post('/api/directories', { name: 'acme' })
  await server.admin.put('/api/directories/acme/members', [ann.id, ben.id])
  const make = (body: object) => ann.post('/api/apps', { type: 'agent_chat', ...body })

  const made = await make({ members: ['helper'], name: 'Ask', directory: 'acme' })
  const other = await make({ members: [helper, ann.id] })
  const byKey = await server.admin.post('/api/apps', { type: 'agent_chat', members: ['helper', ann.id] })

  expect([made, other, byKey].map(({ status }) => status)).toEqual([201, 201, 201])
  expect(new Set([made, other, byKey].map(({ body }) => body.id)).size).toBe(3)
  for (const { body } of [made, other, byKey]) {
    const { body: seen } = await ann.get(`/api/apps/${body.id}`)
    expect(seen.permissions).toContain('admin')
    const levels = seen.members.data.map(({ id, access }: Body) => [id, access])
    expect(Object.fromEntries(levels)).toEqual({ [helper]: 'write', [ann.id]: 'admin' })
    expect((await ben.get(`/api/apps/${body.id}`)).status).toBe(404)
    expect((await ann.put(`/api/apps/${body.id}/members/${ben.id}`)).status).toBe(422)
  }
  for (const members of [[], [ben.id], [helper, critic], [helper, ben.id], [ann.id]]) {
    expect([members, (await make({ members })).body.errors]).toEqual([members, { members: [expect.any(String)] }])
  }
  const { body: found } = await ann.get('/api/apps?member=helper&type=agent_chat')
  expect(found.count).toBe('3')
  expect((await ann.get('/api/apps?member=critic&type=agent_chat')).body.count).toBe('0')
})

test('the uid of an agent chat is its person’s own: two people may use the same one', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await insertAgent(database.url, 'helper')
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const make = (one: Person) => one.post('/api/apps', { type: 'agent_chat', members: ['helper'], uid: 'copilot' })

  const [first, second] = [await make(ann), await make(ben)]
  const again = await make(ann)

  expect([first.status, second.status, again.status]).toEqual([201, 201, 422])
  expect((await ann.get('/api/apps/copilot')).body.id).toBe(first.body.id)
  expect((await ben.get('/api/apps/COPILOT')).body.id).toBe(second.body.id)
  expect((await ann.get(`/api/apps/${second.body.id}`)).status).toBe(404)
})

test('an agent chat and an app of another type never have the same uid', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await insertAgent(database.url, 'helper')
  const ann = await server.person('Ann')
  const make = (uid?: string) => ann.post('/api/apps', { type: 'agent_chat', members: ['helper'], uid })
  const { body: chat } = await make('mine')
  const { body: team } = await server.admin.post('/api/apps', { type: 'posts', uid: 'team' })
  const { body: free } = await make()

  const posted = await Promise.all([make('Team'), server.admin.post('/api/apps', { type: 'posts', uid: 'MINE' })])
  const renamed = await Promise.all([
    ann.patch(`/api/apps/${free.id}`, { uid: 'Team' }),
    server.admin.patch(`/api/apps/${team.id}`, { uid: 'MINE' }),
  ])
  const upserted = await ann.put('/api/apps/team', { type: 'agent_chat', members: ['helper'] })
  const byKey = await server.admin.put('/api/apps/mine', { type: 'posts' })

  for (const { status, body } of [...posted, ...renamed]) {
    expect([status, body.errors]).toEqual([422, { uid: ['is taken by another app'] }])
  }
  for (const { status, body } of [upserted, byKey]) expect([status, Object.keys(body.errors)]).toEqual([422, ['type']])
  expect((await ann.get('/api/apps/mine')).body.id).toBe(chat.id)
})

test('of two who take a uid at once, one for an agent chat, one gets it', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await insertAgent(database.url, 'helper')
  const ann = await server.person('Ann')
  const { body: chat } = await ann.post('/api/apps', { type: 'agent_chat', members: ['helper'] })
  const { body: posts } = await ann.post('/api/apps', { type: 'posts' })

  for (let round = 0; round < 10; round++) {
    const uid = `round-${round}`
    const answers = await Promise.all([
      ann.post('/api/apps', { type: 'agent_chat', members: ['helper'], uid }),
      server.admin.post('/api/apps', { type: 'posts', uid }),
      ann.patch(`/api/apps/${chat.id}`, { uid }),
      ann.patch(`/api/apps/${posts.id}`, { uid }),
    ])

    expect(answers.map(({ status }) => (status < 300 ? 'ok' : status)).toSorted()).toEqual([422, 422, 422, 'ok'])
  }
})

test('where an agent chat shares its uid with another app from before, a key is given the other', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await insertAgent(database.url, 'helper')
  const ann = await server.person('Ann')
  const { body: chat } = await ann.post('/api/apps', { type: 'agent_chat', members: ['helper'], uid: 'team' })
  const { body: posts } = await server.admin.post('/api/apps', { type: 'posts' })
  await database.sql`update apps set uid = 'Team' where id = ${posts.id}`

  expect((await server.admin.get('/api/apps/team')).body.id).toBe(posts.id)
  expect((await ann.get('/api/apps/team')).body.id).toBe(chat.id)
  // It may keep the uid that it has.
  expect((await ann.patch(`/api/apps/${chat.id}`, { uid: 'team', name: 'Ask' })).body.name).toBe('Ask')
  expect((await server.admin.delete('/api/apps/team')).status).toBe(204)
  expect((await server.admin.get('/api/apps/team')).body.id).toBe(chat.id)
})

test('an upsert that names somebody else than its uid’s chat is with is refused', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const [helper] = [await insertAgent(database.url, 'helper'), await insertAgent(database.url, 'critic')]
  const [ann, ben, eve] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
  const ask = (members?: unknown[]) => ann.put('/api/apps/copilot', { type: 'agent_chat', members })
  const talk = (members?: unknown[]) => ann.put('/api/apps/two', { type: 'private_chat', members })
  const [chat, two] = [await ask(['helper']), await talk([ben.id])]

  const kept = await Promise.all([ask(), ask([]), ask(['HELPER', ann.id]), ask([helper])])
  const keptTwo = await Promise.all([talk(), talk([ben.uid]), talk([ben.id, ann.id])])
  const refused = await Promise.all([ask(['critic']), ask(['nobody']), talk([eve.id])])

  for (const { status, body } of kept) expect([status, body.id]).toEqual([200, chat.body.id])
  for (const { status, body } of keptTwo) expect([status, body.id]).toEqual([200, two.body.id])
  for (const { status, body } of refused) expect([status, Object.keys(body.errors)]).toEqual([422, ['members']])
})

test('an agent chat without a name is called by the first sentence that its person writes', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const helper = await insertAgent(database.url, 'helper')
  const ann = await server.person('Ann')
  const { body: agent } = await server.admin.post(`/api/users/${helper}/tokens`)
  const titles: [string, string][] = [
    ['How do I **plan** a trip? I like the sea.', 'How do I plan a trip?'],
    ['Hello\nthere', 'Hello'],
    ['word '.repeat(30), 'word '.repeat(13).trim()],
    ['x'.repeat(100), 'x'.repeat(64)],
    ['Version 1.2 is out! Look.', 'Version 1.2 is out!'],
  ]

  for (const [text, title] of titles) {
    const { body: chat } = await ann.post('/api/apps', { type: 'agent_chat', members: ['helper'] })
    const path = `/api/apps/${chat.id}`
    expect(chat).not.toHaveProperty('name')
    await server.request('POST', `${path}/messages`, { body: { text: 'What can I do?' }, token: agent.access_token })
    expect((await ann.get(path)).body).not.toHaveProperty('name')
    await ann.post(`${path}/messages`, { text })
    await ann.post(`${path}/messages`, { text: 'Something else' })
    expect((await ann.get(path)).body.name).toBe(title)
  }
})

test('an agent does not keep a chat alive that its person has removed', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await insertAgent(database.url, 'helper')
  const ann = await server.person('Ann')

  for (const type of ['agent_chat', 'private_chat']) {
    const { body: chat } = await ann.post('/api/apps', { type, members: ['helper'] })
    await ann.post(`/api/apps/${chat.id}/remove`)
    expect((await server.admin.get(`/api/apps/${chat.id}`)).status).toBe(404)
  }
})
