import { expect, test } from 'vitest'
import { insertAgent } from '../support/agent.ts'
import type { Body } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

const ids = (body: Body) => (body.data ?? []).map((member: { id: string }) => member.id)
const levels = (body: Body) => Object.fromEntries(body.data.map(({ id, access }: Body) => [id, access]))

test('somebody is added with 201 and changed with 200, and write is the access that is given without a word', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: app } = await ann.post('/api/apps', { type: 'chat' })
  const put = (body?: object) => ann.put(`/api/apps/${app.id}/members/${ben.uid}`, body)
  const item = { id: ben.id, uid: ben.uid, name: 'Ben', presence: 'away' }

  expect(await put()).toMatchObject({ status: 201, body: { ...item, access: 'write' } })
  expect(await put({ access: 'read' })).toMatchObject({ status: 200, body: { ...item, access: 'read' } })
  expect(await put({})).toMatchObject({ status: 200, body: { access: 'write' } })
  expect(await put({ access: null })).toMatchObject({ status: 200, body: { access: 'write' } })
  expect(await put({ access: 'admin' })).toMatchObject({ status: 200, body: { access: 'admin' } })
  for (const access of ['all', '', 1, [], {}]) {
    const { status, body } = await put({ access })
    expect([access, status, Object.keys(body.errors)]).toEqual([access, 422, ['access']])
  }
})

test('several are added at once, in the order of the request, under any spelling; one who is unknown spoils all', async () => {
  await using server = await startServer()
  const [ann, ben, eve, kim] = await Promise.all(['Ann', 'Ben', 'Eve', 'Kim'].map(server.person))
  const { body: app } = await ann!.post('/api/apps', { type: 'chat' })
  const put = (body: unknown) => ann!.put(`/api/apps/${app.id}/members`, body)

  const spoiled = await put([{ user: ben!.id }, { user: 'nobody' }])
  const added = await put([{ user: kim!.uid, access: 'read' }, { id: Number(ben!.id) }, { uid: eve!.uid }])
  const changed = await put([
    { user: ben!.id, access: 'read' },
    { user: ben!.uid, access: 'admin' },
  ])
  const nothing = await put([])

  expect([spoiled.status, Object.keys(spoiled.body.errors)]).toEqual([422, ['user']])
  expect(added.status).toBe(201)
  expect(added.body.map(({ id, access }: Body) => [id, access])).toEqual([
    [kim!.id, 'read'],
    [ben!.id, 'write'],
    [eve!.id, 'write'],
  ])
  expect(changed).toMatchObject({ status: 200, body: [{ id: ben!.id, access: 'admin' }] })
  expect(nothing.status).toBe(200)
  const refused: [unknown, string][] = [
    [{}, 'body'],
    ['x', 'body'],
    [[1], '0'],
    [[{}], '0.user'],
    [[{ user: null }], '0.user'],
    [[{ user: 1.5 }], '0.user'],
    [[{ user: ben!.id, access: 'all' }], '0.access'],
    [[{ user: 0 }], 'user'],
    [[{ user: -1 }], 'user'],
    [Array.from({ length: 501 }, () => ({ user: ben!.id })), 'body'],
  ]
  for (const [body, field] of refused) {
    const answer = await put(JSON.stringify(body))
    expect([body, answer.status, Object.keys(answer.body.errors)]).toEqual([body, 422, [field]])
  }
})

test('people add whom they can see; whom they cannot is as good as nobody', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await server.admin.post('/api/directories', { name: 'acme' })
  await server.admin.put(`/api/directories/acme/members/${ben.id}`)
  const { body: app } = await ann.post('/api/apps', { type: 'chat' })

  const one = await ann.put(`/api/apps/${app.id}/members/${ben.id}`)
  const nobody = await ann.put(`/api/apps/${app.id}/members/999999`)
  const bulk = await ann.put(`/api/apps/${app.id}/members`, [{ user: 'nobody' }, { user: ben.uid }])

  expect([one.status, nobody.status]).toEqual([404, 404])
  expect(bulk.body.errors).toEqual({ user: ['there is no user nobody', `there is no user ${ben.uid}`] })
  expect((await server.admin.put(`/api/apps/${app.id}/members/${ben.id}`)).status).toBe(201)
  // Now they are members of the same app.
  expect((await ann.put(`/api/apps/${app.id}/members/${ben.id}`, { access: 'read' })).status).toBe(200)
})

test('in a chat room whoever may write adds people, but changes nobody and makes no admin', async () => {
  await using server = await startServer()
  const [ann, ben, eve, kim] = await Promise.all(['Ann', 'Ben', 'Eve', 'Kim'].map(server.person))
  const { body: room } = await ann!.post('/api/apps', { type: 'chat_room', members: [ben!.id] })
  const put = (who: string, access?: string) =>
    ben!.put(`/api/apps/${room.id}/members/${who}`, access ? { access } : {})

  expect((await put(eve!.id)).status).toBe(201)
  expect((await put(eve!.id)).status).toBe(200)
  expect((await put(eve!.id, 'read')).status).toBe(403)
  expect((await put(ben!.id, 'admin')).status).toBe(403)
  expect((await put(kim!.id, 'admin')).status).toBe(403)
  expect((await put(kim!.id, 'none')).status).toBe(403)
  expect((await put(ann!.id)).status).toBe(403)
  expect((await ben!.delete(`/api/apps/${room.id}/members/${eve!.id}`)).status).toBe(403)
  expect((await ben!.patch(`/api/apps/${room.id}`, { name: 'Ours' })).body.name).toBe('Ours')
  expect((await ben!.patch(`/api/apps/${room.id}`, { name: null, description: 'x' })).status).toBe(403)
  await ann!.put(`/api/apps/${room.id}/members/${ben!.id}`, { access: 'read' })
  expect((await put(kim!.id)).status).toBe(403)
  expect((await ben!.patch(`/api/apps/${room.id}`, { name: 'Mine' })).status).toBe(403)
})

test('an app that has an admin keeps one, whoever tries', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: app } = await ann.post('/api/apps', { type: 'chat', members: [ben.id] })
  const put = (one: typeof ann | typeof server.admin, who: string, access: string) =>
    one.put(`/api/apps/${app.id}/members/${who}`, { access })

  const alone = await Promise.all([ann, server.admin].map(one => put(one, ann.id, 'write')))
  expect(alone.map(({ status, body }) => [status, Object.keys(body.errors)])).toEqual([
    [422, ['access']],
    [422, ['access']],
  ])

  await put(ann, ben.id, 'admin')
  expect((await put(ann, ann.id, 'read')).status).toBe(200)
  expect((await ann.get(`/api/apps/${app.id}`)).body.permissions).toEqual(['list', 'read'])
  expect((await put(ben, ben.id, 'none')).status).toBe(422)
  const swapped = await ben.put(`/api/apps/${app.id}/members`, [
    { user: ben.id, access: 'write' },
    { user: ann.id, access: 'admin' },
  ])
  expect(swapped.status).toBe(200)
  expect((await put(ben, ben.id, 'admin')).status).toBe(403)
})

test('two admins who make each other less at once leave one of them', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]

  for (let round = 0; round < 5; round++) {
    const { body: app } = await ann.post('/api/apps', { type: 'chat', members: [ben.id] })
    await ann.put(`/api/apps/${app.id}/members/${ben.id}`, { access: 'admin' })
    const answers = await Promise.all([
      ann.put(`/api/apps/${app.id}/members/${ben.id}`, { access: 'write' }),
      ben.put(`/api/apps/${app.id}/members/${ann.id}`, { access: 'write' }),
    ])

    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403])
    const { body } = await server.admin.get(`/api/apps/${app.id}/members`)
    expect(Object.values(levels(body)).toSorted()).toEqual(['admin', 'write'])
  }
})

test('when the owner or the last admin goes, the person who was there longest and may write follows', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const helper = await insertAgent(database.url, 'helper')
  const [ann, ben, eve, kim, pat] = await Promise.all(['Ann', 'Ben', 'Eve', 'Kim', 'Pat'].map(server.person))
  const { body: app } = await ann!.post('/api/apps', { type: 'chat' })
  // Who joins first has the largest id; an agent, somebody who only reads and somebody in the trash come before the heir.
  for (const [who, access] of [
    [helper, 'write'],
    [kim!.id, 'read'],
    [pat!.id, 'write'],
    [eve!.id, 'write'],
    [ben!.id, 'write'],
  ] as const) {
    await ann!.put(`/api/apps/${app.id}/members/${who}`, { access })
  }
  await server.admin.post(`/api/users/${pat!.id}/trash`)

  expect((await ann!.delete(`/api/apps/${app.id}/members/${ann!.id}`)).status).toBe(204)
  expect((await ann!.get(`/api/apps/${app.id}`)).status).toBe(404)
  const { body: first } = await server.admin.get(`/api/apps/${app.id}/members`)
  expect(levels(first)).toEqual({ [helper]: 'write', [kim!.id]: 'read', [eve!.id]: 'admin', [ben!.id]: 'write' })
  expect((await eve!.get(`/api/apps/${app.id}`)).body).toMatchObject({ is_subscribed: true })

  // Taken out by the API key, and with a user who is deleted.
  await server.admin.delete(`/api/apps/${app.id}/members/${eve!.id}`)
  expect((await ben!.get(`/api/apps/${app.id}`)).body.permissions).toContain('admin')
  await server.admin.delete(`/api/users/${ben!.id}`)
  const { body: last } = await server.admin.get(`/api/apps/${app.id}/members`)
  expect(levels(last)).toEqual({ [helper]: 'write', [kim!.id]: 'read' })

  // An app without an owner passes on its last admin all the same.
  const { body: other } = await server.admin.post('/api/apps', { type: 'posts', members: [ann!.id, eve!.id] })
  await server.admin.put(`/api/apps/${other.id}/members/${eve!.id}`, { access: 'admin' })
  await eve!.delete(`/api/apps/${other.id}/members/${eve!.id}`)
  expect((await ann!.get(`/api/apps/${other.id}`)).body.permissions).toContain('admin')
})

test('everybody may leave; settings go with them, and what they wrote stays', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await ben.post(`/api/apps/${app}/messages`, { text: 'bye' })
  await ben.put(`/api/apps/${app}/pin`)

  expect((await ben.delete(`/api/apps/${app}/members/${ben.uid}`)).status).toBe(204)
  expect((await ben.delete(`/api/apps/${app}/members/${ben.uid}`)).status).toBe(404)
  expect((await ben.post(`/api/apps/${app}/messages`, { text: 'still here' })).status).toBe(404)
  await ann.put(`/api/apps/${app}/members/${ben.id}`)

  expect((await ben.get(`/api/apps/${app}`)).body).toMatchObject({ is_pinned: false, last_message: { text: 'bye' } })
})

test('whoever may remove nobody else does not learn who is there', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: app } = await server.admin.post('/api/apps', { type: 'chat', members: [ann.id] })
  const path = `/api/apps/${app.id}/members`

  const refs = [ben.id, ben.uid, '999999', 'nobody']
  const removed = await Promise.all(refs.map(ref => ann.delete(`${path}/${ref}`)))
  const together = await Promise.all(refs.map(ref => ann.delete(path, [ann.id, ref])))

  expect([...removed, ...together].map(({ status }) => status)).toEqual(Array(8).fill(403))
  expect((await ann.delete(`${path}/${ann.id}`)).status).toBe(204)
})

test('several are removed at once or none, named in the path with commas or in the body', async () => {
  await using server = await startServer()
  const [ann, ben, eve, kim] = await Promise.all(['Ann', 'Ben', 'Eve', 'Kim'].map(server.person))
  await server.admin.post('/api/users', { uid: 'a,b' })
  const { body: app } = await ann!.post('/api/apps', { type: 'chat', members: [ben!.id, eve!.id, kim!.id, 'a,b'] })
  const count = async () => (await ann!.get(`/api/apps/${app.id}`)).body.members.count

  expect((await ann!.delete(`/api/apps/${app.id}/members/${ben!.id},nobody`)).status).toBe(404)
  expect((await ann!.delete(`/api/apps/${app.id}/members`, [ben!.id, 999_999])).status).toBe(404)
  expect(await count()).toBe('5')
  expect((await ann!.delete(`/api/apps/${app.id}/members/a,b`)).status).toBe(204)
  expect(await count()).toBe('4')
  expect((await ann!.delete(`/api/apps/${app.id}/members/${ben!.id},${eve!.uid}`)).status).toBe(204)
  expect(await count()).toBe('2')
  expect((await ann!.delete(`/api/apps/${app.id}/members`, [Number(kim!.id)])).status).toBe(204)
  expect(ids((await ann!.get(`/api/apps/${app.id}/members`)).body)).toEqual([ann!.id])
  for (const one of [ann!, server.admin]) expect((await one.delete(`/api/apps/${app.id}/members`, [])).status).toBe(204)
  expect((await ann!.delete(`/api/apps/${app.id}/members`)).status).toBe(422)
})

test('nobody who is in the trash is added, but a member there may have their access changed', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = await Promise.all(['Ann', 'Ben', 'Eve'].map(server.person))
  const { body: app } = await ann!.post('/api/apps', { type: 'chat', members: [eve!.id] })
  const path = `/api/apps/${app.id}/members`
  for (const one of [ben, eve]) await server.admin.post(`/api/users/${one!.id}/trash`)

  for (const caller of [ann!, server.admin]) {
    const one = await caller.put(`${path}/${ben!.id}`)
    const many = await caller.put(path, [{ user: ben!.id }])
    const made = await caller.post('/api/apps', { type: 'chat', members: [ben!.id] })
    const changed = await caller.put(`${path}/${eve!.id}`, { access: 'read' })

    expect([one, many, made, changed].map(({ status }) => status)).toEqual([404, 422, 422, 200])
    expect([many, made].map(({ body }) => Object.keys(body.errors))).toEqual([['user'], ['members']])
  }
})
