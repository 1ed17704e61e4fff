import { expect, test } from 'vitest'
import { insertAgent } from '../support/agent.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

const guids = {
  agent_chat: '2352a1c6-abc6-420e-8b85-ca7d5aed8779',
  chat: 'd65dd4bc-418e-403c-9f56-f9cf4da931ed',
  chat_room: 'edb400ac-839b-45a7-b2a8-6a01820d1c44',
  comments: '88f96a08-c6c1-4eac-a0bd-5bf8fba1a3fd',
  files: '523edd88-4bbf-4547-b60f-2859a6d2ddc1',
  posts: '5ebfa152-de85-48da-82dd-30a1b560c313',
  private_chat: '7e14f418-8f15-46f4-b182-f619b671e470',
}

const id = expect.stringMatching(/^\d+$/)
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
const adminPermissions = ['list', 'read', 'create', 'update', 'delete', 'admin']

test('an app comes back with all that was given, and its creator administers it', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await server.admin.post('/api/directories', { name: 'acme' })
  await server.admin.put('/api/directories/acme/members', [ann.id, ben.id])
  const given = {
    uid: 'launch-chat',
    name: 'Launch',
    description: 'All about the launch',
    metadata: { plan: 'pro', seats: 3, nested: { none: null, list: [] } },
    tags: ['vip', 'eu'],
    access: 'read',
  }

  const made = await ann.post('/api/apps', { ...given, type: 'chat', directory: 'acme', members: [ben.uid, ben.id] })

  expect(made.status).toBe(201)
  expect(made.body).toEqual({
    ...given,
    id,
    rev: id,
    type: guids.chat,
    kind: 'chat',
    directory_id: '1',
    created_at: timestamp,
    is_pinned: false,
    is_starred: false,
    is_subscribed: true,
    is_trashed: false,
    is_unread: false,
    permissions: adminPermissions,
    members: {
      data: [
        { id: ann.id, uid: ann.uid, name: 'Ann', access: 'admin', presence: 'active' },
        { id: ben.id, uid: ben.uid, name: 'Ben', access: 'write', presence: 'away' },
      ],
      start: '0',
      end: '2',
      count: '2',
    },
  })
  expect((await ann.get('/api/apps/LAUNCH-chat')).body).toEqual(made.body)
  const { members: _, ...summary } = made.body
  expect((await ann.get('/api/apps')).body).toEqual({ data: [summary], start: '0', end: '1', count: '1' })
})

test('an app made with an API key has no owner, and only the members that were named', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  const made = await server.admin.post('/api/apps', { type: 'posts', members: [Number(ann.id), ann.uid] })
  const bare = await server.admin.post('/api/apps', { type: 'files' })

  expect(made.body.members.data).toMatchObject([{ id: ann.id, access: 'write' }])
  expect(made.body).toMatchObject({ permissions: adminPermissions, is_subscribed: false, access: 'none' })
  expect((await ann.get(`/api/apps/${made.body.id}`)).body.permissions).toEqual(['list', 'read', 'create'])
  expect(bare.body.members).toEqual({ start: '0', end: '0', count: '0' })
})

test('a type is given by name or guid, in any case, and answered as guid', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await insertAgent(database.url, 'helper')
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const members: Record<string, string[]> = { private_chat: [ben.uid], agent_chat: ['helper'] }

  for (const [name, guid] of Object.entries(guids)) {
    const types = [name, name.toUpperCase(), guid, guid.toUpperCase()]
    const made = await Promise.all(types.map(type => ann.post('/api/apps', { type, members: members[name] })))
    expect(made.map(({ status, body }) => [status, body.type])).toEqual(types.map(() => [201, guid]))
  }
})

test('what no app can be made of is refused by field, and nothing is made', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const hidden = await server.person('Hidden')
  await server.admin.post('/api/directories', { name: 'closed' })
  await server.admin.put(`/api/directories/closed/members/${hidden.id}`)
  const refused: [Record<string, unknown>, string][] = [
    [{}, 'type'],
    [{ type: null }, 'type'],
    [{ type: 'forum' }, 'type'],
    [{ type: 1 }, 'type'],
    [{ type: 'chat', uid: '123' }, 'uid'],
    [{ type: 'chat', uid: 'with space' }, 'uid'],
    [{ type: 'chat', uid: 'tab\t' }, 'uid'],
    [{ type: 'chat', uid: '' }, 'uid'],
    [{ type: 'chat', uid: 'x'.repeat(257) }, 'uid'],
    [{ type: 'chat', uid: 12 }, 'uid'],
    [{ type: 'chat', name: 'x'.repeat(257) }, 'name'],
    [{ type: 'chat', name: ['a'] }, 'name'],
    [{ type: 'chat', description: 'x'.repeat(513) }, 'description'],
    [{ type: 'chat', metadata: [] }, 'metadata'],
    [{ type: 'chat', metadata: 'text' }, 'metadata'],
    [{ type: 'chat', metadata: { big: 'x'.repeat(65_536) } }, 'metadata'],
    [{ type: 'chat', tags: 'vip' }, 'tags'],
    [{ type: 'chat', tags: [''] }, 'tags.0'],
    [{ type: 'chat', tags: ['x'.repeat(65)] }, 'tags.0'],
    [{ type: 'chat', tags: Array.from({ length: 51 }, (_, i) => `tag ${i}`) }, 'tags'],
    [{ type: 'chat', access: 'admin' }, 'access'],
    [{ type: 'chat', access: 'all' }, 'access'],
    [{ type: 'chat', directory: 'nowhere' }, 'directory'],
    // To people, directories that they are not in are as good as none.
    [{ type: 'chat', directory: 'closed' }, 'directory'],
    [{ type: 'chat', members: 'ann' }, 'members'],
    [{ type: 'chat', members: ['nobody'] }, 'members'],
    [{ type: 'chat', members: [999_999] }, 'members'],
    [{ type: 'chat', members: [0] }, 'members'],
    [{ type: 'chat', members: [-1] }, 'members'],
    [{ type: 'chat', members: [hidden.uid] }, 'members'],
    [{ type: 'chat', members: Array.from({ length: 501 }, () => 'ann') }, 'members'],
    [{ type: 'chat_room', access: 'read' }, 'access'],
    [{ type: 'chat_room', directory: 'closed' }, 'directory'],
  ]

  const answers = await Promise.all(refused.map(([body]) => ann.post('/api/apps', body)))

  const fields = answers.map(({ status, body }, i) => [refused[i]![0], status, Object.keys(body.errors ?? {})])
  expect(fields).toEqual(refused.map(([body, field]) => [body, 422, [field]]))
  expect((await server.admin.get('/api/apps')).body.count).toBe('0')
})

test('conversations are open to nobody but their members, whoever asks', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await server.admin.post('/api/directories', { name: 'acme' })
  const { body: room } = await ann.post('/api/apps', { type: 'chat_room', access: 'none' })
  const { body: pair } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })

  for (const { id } of [room, pair]) {
    const opened = await server.admin.patch(`/api/apps/${id}`, { access: 'write' })
    const moved = await server.admin.patch(`/api/apps/${id}`, { directory: 'acme' })
    expect([opened.status, Object.keys(opened.body.errors)]).toEqual([422, ['access']])
    expect([moved.status, Object.keys(moved.body.errors)]).toEqual([422, ['directory']])
    expect((await server.admin.patch(`/api/apps/${id}`, { access: 'none', directory: null })).status).toBe(200)
  }
})

test('a uid belongs to one app, whatever its case and type, also while that is in the trash', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const { body: first } = await ann.post('/api/apps', { type: 'chat', uid: 'Team' })
  const { body: second } = await ann.post('/api/apps', { type: 'posts', uid: 'other' })
  await ann.post(`/api/apps/${first.id}/trash`)

  const posted = await ann.post('/api/apps', { type: 'chat', uid: 'tEAM' })
  const renamed = await ann.patch(`/api/apps/${second.id}`, { uid: 'TEAM' })
  const otherType = await ann.put('/api/apps/team', { type: 'files' })

  const faults = [posted, renamed, otherType].map(({ status, body }) => [status, Object.keys(body.errors)])
  expect(faults).toEqual([
    [422, ['uid']],
    [422, ['uid']],
    [422, ['type']],
  ])
  await ann.delete(`/api/apps/${first.id}`)
  expect((await ann.patch(`/api/apps/${second.id}`, { uid: 'TEAM' })).body.uid).toBe('TEAM')
})

test('a uid that is taken is refused before the commit that others share', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  await server.admin.post('/api/apps', { type: 'files', uid: 'taken' })
  const { body: other } = await people[0].post('/api/apps', { type: 'chat' })
  const commits = async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    return Number(/^parley_commit_commands_count (\d+)$/m.exec(text)?.[1])
  }
  const before = await commits()

  const refused = await people[0].patch(`/api/apps/${other.id}`, { uid: 'Taken' })

  expect(refused).toMatchObject({ status: 422, body: { errors: { uid: ['is taken by another app'] } } })
  expect(await commits()).toBe(before)
  expect((await people[0].patch(`/api/apps/${app}`, { uid: 'taken' })).status).toBe(403)
  expect((await people[0].patch(`/api/apps/${other.id}`, { uid: 'free' })).body.uid).toBe('free')
  expect((await people[0].patch(`/api/apps/${other.id}`, { uid: 'FREE' })).body.uid).toBe('FREE')
})

test('an update changes what it names; null clears, lists and metadata are replaced whole', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const given = { name: 'Plan', description: 'Long', metadata: { a: 1, b: 2 }, tags: ['x', 'y'], access: 'write' }
  const { body: app } = await ann.post('/api/apps', { type: 'chat', uid: 'plan', ...given })
  const patch = async (body: object) => (await ann.patch('/api/apps/plan', body)).body

  expect(await patch({ name: 'New' })).toMatchObject({ ...given, name: 'New', updated_at: timestamp })
  expect(await patch({ metadata: { c: 3 }, tags: ['Zed', ' zed ', 'ZED'] })).toMatchObject({
    metadata: { c: 3 },
    tags: ['Zed'],
  })
  expect(await patch({ access: null })).toMatchObject({ access: 'none' })
  expect(await patch({ name: '  ', type: 'files', members: [], unknown: true })).toMatchObject({ type: guids.chat })
  const cleared = await patch({ uid: null, description: null, metadata: null, tags: null, picture: null })

  for (const member of ['uid', 'name', 'description', 'metadata', 'tags']) expect(cleared).not.toHaveProperty(member)
  expect(cleared.id).toBe(app.id)
})

test('what changes nothing leaves no trace: neither rev, nor updated_at, nor an event', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const given = { name: 'Plan', tags: ['x'], metadata: { b: 2, a: { z: 1, y: [1.5, null] } }, access: 'write' }
  const { body: made } = await ann.put('/api/apps/plan', { type: 'chat', ...given })
  await ben.put('/api/apps/plan', { type: 'chat' })
  const { body: before } = await ann.get('/api/apps/plan')
  const logged = async () => (await database.sql`select 1 from events where app_id = ${before.id}`).length
  const events = await logged()

  await ann.put('/api/apps/plan', { type: 'chat', ...given })
  await ann.put('/api/apps/plan', { type: 'chat' })
  await ben.put('/api/apps/plan', { type: 'chat', ...given })
  await ann.patch('/api/apps/plan', {})
  await ann.patch('/api/apps/plan', { ...given, metadata: { a: { y: [1.5, null], z: 1 }, b: 2 } })
  await ann.post('/api/apps/plan/restore')

  const { body: after } = await ann.get('/api/apps/plan')
  expect(after).toEqual(before)
  expect(after).not.toHaveProperty('updated_at')
  expect(Number(after.rev)).toBeGreaterThan(Number(made.rev))
  expect(await logged()).toBe(events)
})

test('rev grows over all apps by what happens in them, not by what people set for themselves', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: one } = await ann.post('/api/apps', { type: 'chat', members: [ben.id] })
  const { body: two } = await ann.post('/api/apps', { type: 'chat', members: [ben.id] })
  const rev = async (app: { id: string }) => Number((await ann.get(`/api/apps/${app.id}`)).body.rev)
  let highest = Number(two.rev)

  expect(highest).toBeGreaterThan(Number(one.rev))
  const changes = [
    () => ben.post(`/api/apps/${one.id}/messages`, { text: 'hi' }),
    () => ann.patch(`/api/apps/${two.id}`, { name: 'Two' }),
    () => ann.put(`/api/apps/${one.id}/members/${ben.id}`, { access: 'read' }),
    () => ann.post(`/api/apps/${two.id}/messages`, { text: 'hi' }),
    () => ann.delete(`/api/apps/${one.id}/members/${ben.id}`),
  ]
  for (const change of changes) {
    expect((await change()).status).toBeLessThan(300)
    const now = Math.max(await rev(one), await rev(two))
    expect(now).toBeGreaterThan(highest)
    highest = now
  }
  const before = await rev(two)
  for (const path of ['pin', 'archive', 'mark']) await ben.put(`/api/apps/${two.id}/${path}`)
  await ben.put(`/api/apps/${two.id}/typing`, {})
  await ben.post(`/api/apps/${two.id}/unsubscribe`)
  expect(await rev(two)).toBe(before)
})

test('what names no app is not found', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const names = ['0', '-1', '999999', '9'.repeat(15), '9'.repeat(30), 'nothing', '1.5', '%00', '%', '..%2f', 'a%20b']

  for (const name of names) {
    for (const one of [ann, server.admin]) {
      const answers = [
        await one.get(`/api/apps/${name}`),
        await one.patch(`/api/apps/${name}`, { name: 'x' }),
        await one.delete(`/api/apps/${name}`),
        await one.get(`/api/apps/${name}/messages`),
        await one.get(`/api/apps/${name}/members`),
        await one.post(`/api/apps/${name}/messages`, { text: 'x' }),
      ]
      expect([name, answers.map(({ status }) => status)]).toEqual([name, answers.map(() => 404)])
    }
  }
})

test('what users do for themselves is not for API keys, and nothing is for strangers', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const { body: app } = await ann.post('/api/apps', { type: 'chat' })
  const own = [
    ...['pin', 'archive', 'mark', 'typing'].map(name => ['PUT', name] as const),
    ...['pin', 'archive', 'mark'].map(name => ['DELETE', name] as const),
    ...['remove', 'subscribe', 'unsubscribe'].map(name => ['POST', name] as const),
  ]

  for (const [method, name] of own) {
    expect((await server.admin.request(method, `/api/apps/${app.id}/${name}`)).status).toBe(403)
    expect((await server.request(method, `/api/apps/${app.id}/${name}`)).status).toBe(401)
  }
  expect((await server.request('GET', '/api/apps')).status).toBe(401)
  expect((await server.request('POST', '/api/apps', { body: { type: 'chat' } })).status).toBe(401)
})

test('an app type that there is none of is refused with the names of those that there are', async () => {
  await using server = await startServer()

  const { status, body } = await server.admin.post('/api/apps', { type: 'feed', uid: 'news' })

  expect(status).toBe(422)
  expect(body.errors.type[0]).toMatch(/agent_chat, chat, chat_room, comments, files, posts, private_chat$/)
})
