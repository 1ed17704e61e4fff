import { expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { startServer, type Person } from '../support/server.ts'

const texts = (body: Body) => (body.data ?? []).map((message: { text: string }) => message.text)

test('two people have one private chat, however often and by whichever of them it is made', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const make = (one: Person, other: Person) => one.post('/api/apps', { type: 'private_chat', members: [other.id] })

  const atOnce = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 ? make(ann, ben) : make(ben, ann))))
  const later = await ann.post('/api/apps', { type: 'private_chat', members: [ann.uid, ben.uid, ben.id] })
  const byKey = await server.admin.post('/api/apps', { type: 'private_chat', members: [ben.id, ann.id] })

  const all = [...atOnce, later, byKey]
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 201))
  expect(new Set(all.map(({ body }) => body.id)).size).toBe(1)
  expect((await server.admin.get('/api/apps')).body.count).toBe('1')
})

test('a private chat is called by the other one, has their access alone, and keeps its two members', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = await Promise.all(['Ann', 'Ben', 'Eve'].map(server.person))
  const { body: chat } = await ann!.post('/api/apps', { type: 'private_chat', members: [ben!.id] })
  const path = `/api/apps/${chat.id}`

  expect(chat).toMatchObject({
    name: 'Ben',
    access: 'none',
    is_subscribed: true,
    permissions: ['list', 'read', 'create'],
  })
  expect((await ben!.get(path)).body).toMatchObject({ name: 'Ann', permissions: ['list', 'read', 'create'] })
  expect((await server.admin.get(path)).body.name).toBe('Ann, Ben')
  expect((await ben!.get('/api/apps')).body.data).toMatchObject([{ id: chat.id, name: 'Ann' }])
  expect((await eve!.get(path)).status).toBe(404)
  const changes = [
    await ann!.put(`${path}/members/${eve!.id}`),
    await ann!.put(`${path}/members`, [{ user: eve!.id }]),
    await server.admin.put(`${path}/members/${eve!.id}`),
    await ann!.put(`${path}/members/${ben!.id}`, { access: 'read' }),
    await ann!.delete(`${path}/members/${ann!.id}`),
    await ann!.delete(`${path}/members/${ben!.id}`),
    await ann!.delete(`${path}/members`, [ben!.id]),
    await server.admin.delete(`${path}/members`, [ben!.id]),
  ]
  expect(changes.map(({ status, body }) => [status, Object.keys(body.errors)])).toEqual(
    changes.map(() => [422, ['members']]),
  )
  for (const call of [ann!.patch(path, { name: 'x' }), ann!.post(`${path}/trash`), ann!.delete(path)]) {
    expect((await call).status).toBe(403)
  }
  expect((await server.admin.patch(path, { name: 'The two' })).body.name).toBe('The two')
  expect((await ben!.get(path)).body.name).toBe('The two')
})

test('a private chat has exactly one other; whoever names only themselves talks to themselves', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = await Promise.all(['Ann', 'Ben', 'Eve'].map(server.person))
  const asAnn = (members: unknown) => ann!.post('/api/apps', { type: 'private_chat', members })
  const byKey = (members: unknown) => server.admin.post('/api/apps', { type: 'private_chat', members })

  for (const members of [undefined, null, [], [ben!.id, eve!.id], [ann!.id, ben!.id, eve!.id]]) {
    expect([members, (await asAnn(members)).body.errors]).toEqual([members, { members: [expect.any(String)] }])
  }
  for (const members of [undefined, [], [ben!.id], [ben!.id, ben!.uid], [ann!.id, ben!.id, eve!.id]]) {
    expect([members, (await byKey(members)).body.errors]).toEqual([members, { members: [expect.any(String)] }])
  }
  const { status, body: alone } = await asAnn([ann!.id])
  expect([status, alone.name, alone.members.count]).toEqual([201, 'Ann', '1'])
  expect((await asAnn([ann!.uid])).body.id).toBe(alone.id)
  expect((await ann!.get('/api/apps?q=ann')).body.data).toMatchObject([{ id: alone.id }])
})

test('a removed private chat is hidden with its messages, and comes back with the later ones alone', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: chat } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })
  const path = `/api/apps/${chat.id}`
  const { body: old } = await ben.post(`${path}/messages`, { text: 'old' })
  const { body: binned } = await ben.post(`${path}/messages`, { text: 'old too' })
  await ben.post(`/api/messages/${binned.id}/trash`)

  expect((await ann.post(`${path}/remove`)).status).toBe(204)
  expect((await ann.post(`${path}/remove`)).status).toBe(204)

  const listed = async (one: Person) => (await one.get('/api/apps')).body.count
  const messages = async (one: Person) => texts((await one.get(`${path}/messages`)).body)
  expect([await listed(ann), await listed(ben)]).toEqual(['0', '1'])
  expect((await ann.get('/api/apps?unread=true&count_only=true')).body.count).toBe('0')
  expect((await ann.get(`/api/messages/${old.id}`)).status).toBe(404)
  expect((await ann.get(path)).body).toMatchObject({ is_unread: false })
  expect((await ann.get(path)).body).not.toHaveProperty('last_message')
  // What was there when it was removed stays hidden, whatever becomes of it.
  await ben.post(`/api/messages/${binned.id}/restore`)
  expect([await messages(ann), await messages(ben), await listed(ann)]).toEqual([[], ['old', 'old too'], '0'])
  expect((await ann.get('/api/messages')).body.count).toBe('0')

  const { body: back } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })
  expect(back.id).toBe(chat.id)
  expect([await messages(ann), await listed(ann)]).toEqual([[], '1'])
  await ann.post(`${path}/remove`)
  const { body: later } = await ben.post(`${path}/messages`, { text: 'new' })

  expect([await messages(ann), await messages(ben)]).toEqual([['new'], ['old', 'old too', 'new']])
  expect((await ann.get('/api/apps')).body.data).toMatchObject([{ id: chat.id, is_unread: true }])
  expect((await ann.get(path)).body.last_message.id).toBe(later.id)
  for (const query of ['skip=0&order_by=id+desc', 'trashed=null', `around=${later.id}`, 'q=new', 'out=details']) {
    expect([query, texts((await ann.get(`${path}/messages?${query}`)).body)]).toEqual([query, ['new']])
  }
  expect((await ann.get(`${path}/messages?around=${old.id}`)).status).toBe(404)
})

test('who removes a private chat once more removes what was in the trash meanwhile as well', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: chat } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })
  await ann.post(`/api/apps/${chat.id}/remove`)
  const { body: message } = await ben.post(`/api/apps/${chat.id}/messages`, { text: 'news' })
  await ben.post(`/api/messages/${message.id}/trash`)

  await ann.post(`/api/apps/${chat.id}/remove`)
  await ben.post(`/api/messages/${message.id}/restore`)

  expect([(await ann.get('/api/apps')).body.count, (await ann.get(`/api/messages/${message.id}`)).status]).toEqual([
    '0',
    404,
  ])
})

test('a removed private chat comes back by the upsert of its uid as well, without its old messages', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const put = () => ann.put('/api/apps/us', { type: 'private_chat', members: [ben.id] })
  const { body: chat } = await put()
  await ben.post(`/api/apps/${chat.id}/messages`, { text: 'old' })
  await ann.post(`/api/apps/${chat.id}/remove`)

  const again = await put()

  expect([again.status, again.body.id]).toEqual([200, chat.id])
  expect((await ann.get('/api/apps')).body.data).toMatchObject([{ id: chat.id }])
  expect((await ann.get(`/api/apps/${chat.id}/messages`)).body.count).toBe('0')
})

test('a private chat that both have removed is deleted, and the next one is another', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const make = async () => (await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })).body.id
  const first = await make()
  await ann.post(`/api/apps/${first}/messages`, { text: 'hi' })

  await ann.post(`/api/apps/${first}/remove`)
  await ann.post(`/api/apps/${first}/messages`, { text: 'one more' })
  await ben.post(`/api/apps/${first}/remove`)
  expect((await server.admin.get(`/api/apps/${first}`)).status).toBe(200)
  await ann.post(`/api/apps/${first}/remove`)

  expect((await server.admin.get(`/api/apps/${first}`)).status).toBe(404)
  expect(await make()).not.toBe(first)
})

test('removing at once from both sides deletes a private chat, and making it at once finds or makes one', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const make = (one: Person, other: Person) => one.post('/api/apps', { type: 'private_chat', members: [other.id] })

  for (let round = 0; round < 5; round++) {
    const { body: chat } = await make(ann, ben)
    await Promise.all([ann, ben].map(one => one.post(`/api/apps/${chat.id}/remove`)))
    expect((await server.admin.get(`/api/apps/${chat.id}`)).status).toBe(404)

    const { body: next } = await make(ann, ben)
    await ben.post(`/api/apps/${next.id}/remove`)
    const [made] = await Promise.all([make(ben, ann), ann.post(`/api/apps/${next.id}/remove`)])
    expect(made.status).toBe(201)
    await Promise.all([ann, ben].map(one => one.post(`/api/apps/${made.body.id}/remove`)))
  }
})

test('a private chat in the trash makes room for another, beside which it cannot be restored', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const make = async () => (await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })).body.id
  const first = await make()
  await server.admin.post(`/api/apps/${first}/trash`)

  const second = await make()
  const restored = await server.admin.post(`/api/apps/${first}/restore`)

  expect(second).not.toBe(first)
  expect(restored).toMatchObject({ status: 400, body: { code: 'pair-has-chat' } })
  await server.admin.delete(`/api/apps/${second}`)
  expect((await server.admin.post(`/api/apps/${first}/restore`)).status).toBe(204)
  expect(await make()).toBe(first)
})

test('a private chat that is restored while it is made anew is there once', async () => {
  await using server = await startServer()

  for (let round = 0; round < 30; round++) {
    const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
    const make = () => server.admin.post('/api/apps', { type: 'private_chat', members: [ann.id, ben.id] })
    const { id } = (await make()).body
    await server.admin.post(`/api/apps/${id}/trash`)

    const [restored, made] = await Promise.all([server.admin.post(`/api/apps/${id}/restore`), make()])

    expect(made.status).toBe(201)
    expect(restored.status).toBe(made.body.id === id ? 204 : 400)
    expect((await ann.get('/api/apps')).body.data).toMatchObject([{ id: made.body.id }])
  }
})

test('only private and agent chats can be removed for oneself', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  for (const type of ['chat', 'chat_room', 'posts', 'files', 'comments']) {
    const { body: app } = await ann.post('/api/apps', { type })
    expect((await ann.post(`/api/apps/${app.id}/remove`)).status).toBe(400)
  }
})

test('an agent removes its own copy alone, also of a chat with another agent', async () => {
  await using server = await startServer()
  const tokens: string[] = []
  for (const uid of ['one', 'two']) {
    await server.admin.post('/api/agents', { uid, name: uid, provider: 'builtin', model: 'x' })
    tokens.push((await server.admin.post(`/api/users/${uid}/tokens`)).body.access_token)
  }
  const [first, second] = tokens.map(token => (method: string, path: string) => server.request(method, path, { token }))
  const { body: chat } = await server.admin.post('/api/apps', { type: 'private_chat', members: ['one', 'two'] })
  const path = `/api/apps/${chat.id}`
  await server.admin.post(`${path}/messages`, { text: 'Hello' })

  expect((await first!('POST', `${path}/remove`)).status).toBe(204)

  expect((await second!('GET', `${path}/messages`)).body).toMatchObject({ count: '1' })
  expect((await first!('GET', '/api/apps?count_only=true')).body).toEqual({ count: '0' })
  expect((await second!('POST', `${path}/remove`)).status).toBe(204)
  expect((await server.admin.get(path)).status).toBe(404)
})

test('whose partner was deleted still sees the chat and whom it was with', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: chat } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })
  await ben.post(`/api/apps/${chat.id}/messages`, { text: 'bye' })

  await server.admin.delete(`/api/users/${ben.id}`)

  const { body } = await ann.get(`/api/apps/${chat.id}`)
  expect(body).toMatchObject({ name: 'Deleted user', last_message: { text: 'bye', created_by: { id: '-1' } } })
  expect((await ann.get('/api/apps?q=deleted')).body.count).toBe('1')
  expect((await ann.post(`/api/apps/${chat.id}/remove`)).status).toBe(204)
  expect((await server.admin.get(`/api/apps/${chat.id}`)).status).toBe(404)
})

test('a private chat with somebody in the trash is found, not made', async () => {
  await using server = await startServer()
  const [ann, ben, eve, kim] = await Promise.all(['Ann', 'Ben', 'Eve', 'Kim'].map(server.person))
  const make = (other: Person) => ann!.post('/api/apps', { type: 'private_chat', members: [other.id] })
  const byKey = (other: Person) =>
    server.admin.post('/api/apps', { type: 'private_chat', members: [ann!.id, other.id] })
  const { body: chat } = await make(ben!)
  for (const one of [ben, eve]) await server.admin.post(`/api/users/${one!.id}/trash`)

  const found = [await make(ben!), await byKey(ben!)]
  const refused = [await make(eve!), await byKey(eve!)]
  const many = (other: string) => ann!.post('/api/apps', { type: 'private_chat', members: [kim!.id, other] })
  const [trashed, absent] = [await many(eve!.uid), await many('nobody')]

  expect(found.map(({ status, body }) => [status, body.id])).toEqual(found.map(() => [201, chat.id]))
  for (const { status, body } of refused) expect([status, Object.keys(body.errors)]).toEqual([422, ['members']])
  expect(trashed.body.errors).toEqual({ members: [`there is no user ${eve!.uid}`] })
  expect(absent.body.errors).toEqual({ members: ['there is no user nobody'] })
})
