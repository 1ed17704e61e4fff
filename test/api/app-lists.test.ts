import { expect, test } from 'vitest'
import { insertAgent } from '../support/agent.ts'
import type { Body, Client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

/** Names or uids of the apps that a list holds, in its order. */
const listed = async (one: Client, query = ''): Promise<string[]> => {
  const { status, body } = await one.get(`/api/apps?${query}`)
  expect([query, status]).toEqual([query, 200])
  return (body.data ?? []).map((app: Body) => app.uid ?? app.name)
}

test('people list the apps that they are members of, API keys all', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: shared } = await ann.post('/api/apps', { type: 'chat', uid: 'shared', members: [ben.id] })
  await ann.post('/api/apps', { type: 'posts', uid: 'open', access: 'write' })
  await server.admin.post('/api/apps', { type: 'files', uid: 'keys' })

  expect(await listed(ann)).toEqual(['shared', 'open'])
  expect(await listed(ben)).toEqual(['shared'])
  expect(await listed(server.admin)).toEqual(['shared', 'open', 'keys'])
  await ann.put(`/api/apps/${shared.id}/members/${ben.id}`, { access: 'none' })
  expect(await listed(ben)).toEqual([])
  await ann.put(`/api/apps/${shared.id}/members/${ben.id}`, { access: 'read' })
  expect(await listed(ben)).toEqual(['shared'])
  await ann.delete(`/api/apps/${shared.id}/members/${ben.id}`)
  expect(await listed(ben)).toEqual([])
})

test('lists are filtered by type, uid, member, directory and tag, each filter narrowing the others', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await insertAgent(database.url, 'helper')
  await server.admin.post('/api/directories', { name: 'acme' })
  await server.admin.post('/api/directories', { name: 'other' })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await server.admin.put('/api/directories/acme/members', [ann.id, ben.id])
  const make = (body: object) => ann.post('/api/apps', body)
  await make({ type: 'chat', uid: 'chat-1', tags: ['red', 'Blue'], directory: 'acme' })
  await make({ type: 'posts', uid: 'posts-1', members: [ben.id], tags: ['green'] })
  await make({ type: 'files', name: 'Files', members: [ben.id] })
  await make({ type: 'agent_chat', name: 'Ask', members: ['helper'] })
  await server.admin.post('/api/apps', { type: 'chat', uid: 'elsewhere', members: [ann.id], directory: 'other' })

  expect(await listed(ann, 'type=chat&type=5EBFA152-de85-48da-82dd-30a1b560c313')).toEqual([
    'chat-1',
    'posts-1',
    'elsewhere',
  ])
  expect(await listed(ann, 'uid=true')).toEqual(['chat-1', 'posts-1', 'elsewhere'])
  expect(await listed(ann, 'uid=false')).toEqual(['Files', 'Ask'])
  expect(await listed(ann, 'uid=CHAT-1&uid=posts-1&uid=nothing')).toEqual(['chat-1', 'posts-1'])
  expect(await listed(ann, `member=${ben.uid}`)).toEqual(['posts-1', 'Files'])
  expect(await listed(ann, `member=${ben.id}&type=files`)).toEqual(['Files'])
  expect(await listed(ann, 'member=helper')).toEqual(['Ask'])
  expect(await listed(ann, 'member=nobody')).toEqual([])
  expect(await listed(ann, 'directory=ACME')).toEqual(['chat-1'])
  expect(await listed(ann, 'directory=nowhere')).toEqual([])
  // She is a member of the app, but does not belong to its directory.
  expect(await listed(ann, 'directory=other')).toEqual([])
  expect(await listed(server.admin, 'directory=other')).toEqual(['elsewhere'])
  expect(await listed(ann, 'tag=red&tag=green')).toEqual(['chat-1', 'posts-1'])
  expect(await listed(ann, 'tag=red&type=posts')).toEqual([])
  expect(await listed(ann, 'q=&type=&order_by=&tag=&member=')).toHaveLength(5)
})

test('names are found by what they contain, without regard to case, accents and script', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const names = ['Launch: v1.2 (beta)', 'Smörgåsbord', '我喜欢咖啡', 'Привет Мир', 'हिन्दी चैट', '100% _done_']
  for (const name of names) await ann.post('/api/apps', { type: 'chat', name })
  const found = (q: string) => listed(ann, `q=${encodeURIComponent(q)}`)

  expect(await found('LAUNCH beta')).toEqual([names[0]])
  expect(await found('v1.2')).toEqual([names[0]])
  expect(await found('smorgasbord')).toEqual([names[1]])
  expect(await found('SMÖRGÅS')).toEqual([names[1]])
  expect(await found('咖啡')).toEqual([names[2]])
  expect(await found('мир привет')).toEqual([names[3]])
  expect(await found('हिन्दी')).toEqual([names[4]])
  expect(await found('100%')).toEqual([names[5]])
  expect(await found('_done_')).toEqual([names[5]])
  expect(await found('%')).toEqual([names[5]])
  expect(await found("'; drop table apps; --")).toEqual([])
  expect(await found('   ')).toHaveLength(names.length)
  expect((await ann.get(`/api/apps?q=${'x'.repeat(513)}`)).status).toBe(422)
})

test('what is trashed, deleted, closed to somebody or removed by them is neither listed nor counted', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
  const open = async (type: string, members: string[] = [ann.id, ben.id]) =>
    (await server.admin.post('/api/apps', { type, members })).body.id as string
  const [kept, trashed, deleted, closed] = [
    await open('posts'),
    await open('posts'),
    await open('posts'),
    await open('posts'),
  ]
  const [removed, revived] = [await open('private_chat'), await open('private_chat', [ann.id, eve.id])]
  const listed = async () => {
    const { body } = await ann.get('/api/apps')
    return { ids: body.data.map(({ id }: Body) => id), count: body.count }
  }
  const all = await listed()

  await server.admin.post(`/api/apps/${trashed}/trash`)
  await server.admin.delete(`/api/apps/${deleted}`)
  await server.admin.put(`/api/apps/${closed}/members/${ann.id}`, { access: 'none' })
  for (const chat of [removed, revived]) await ann.post(`/api/apps/${chat}/remove`)
  await eve.post(`/api/apps/${revived}/messages`, { text: 'Still there?' })

  expect(all).toEqual({ ids: [kept, trashed, deleted, closed, removed, revived], count: '6' })
  expect(await listed()).toEqual({ ids: [kept, revived], count: '2' })
  expect((await ann.get('/api/apps?count_only=true')).body).toEqual({ count: '2' })
  expect((await ann.get('/api/apps?count_only=true&type=posts')).body).toEqual({ count: '1' })
  await server.admin.post(`/api/apps/${trashed}/restore`)
  expect(await listed()).toMatchObject({ count: '3' })
})

test('lists are sorted by several keys, those who were never pinned last', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  for (const uid of ['b', 'a', 'c', 'd'])
    await ann.post('/api/apps', { type: 'chat', uid, name: uid === 'd' ? 'a' : uid })
  await ann.put('/api/apps/a/pin')
  await ann.post('/api/apps/b/messages', { text: 'hi' })
  await ann.patch('/api/apps/c', { description: 'new' })
  await ann.post('/api/apps/d/messages', { text: 'hi' })

  expect(await listed(ann)).toEqual(['b', 'a', 'c', 'd'])
  expect(await listed(ann, 'order_by=id+desc')).toEqual(['d', 'c', 'a', 'b'])
  expect(await listed(ann, 'order_by=rev+desc')).toEqual(['d', 'c', 'b', 'a'])
  expect(await listed(ann, 'order_by=pinned_at+desc,rev+desc')).toEqual(['a', 'd', 'c', 'b'])
  expect(await listed(ann, 'order_by=pinned_at+desc%2Crev+desc')).toEqual(['a', 'd', 'c', 'b'])
  expect(await listed(ann, 'order_by=pinned_at+asc,id')).toEqual(['a', 'b', 'c', 'd'])
  expect(await listed(ann, 'order_by=name,id+desc')).toEqual(['d', 'a', 'b', 'c'])
  expect(await listed(ann, 'order_by=name%20DESC')).toEqual(['c', 'b', 'a', 'd'])
  for (const order of [
    'size',
    'name+down',
    'id+desc+asc',
    ';drop',
    "name'",
    'a.id',
    'id,,name',
    'toString',
    '__proto__',
  ]) {
    const { status, body } = await ann.get(`/api/apps?order_by=${order}`)
    expect([order, status, Object.keys(body.errors ?? {})]).toEqual([order, 422, ['order_by']])
  }
})

test('a field that is repeated in an order counts once, where it is named first', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  for (const uid of ['b', 'a', 'c']) await ann.post('/api/apps', { type: 'chat', uid, name: uid })
  const often = 'name,'.repeat(6000)

  expect(await listed(ann, 'order_by=name,name+desc,id')).toEqual(['a', 'b', 'c'])
  expect(await listed(ann, `order_by=name+desc,${often}id`)).toEqual(['c', 'b', 'a'])
})

test('a list asks for up to 50 tags', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await ann.post('/api/apps', { type: 'chat', uid: 'a', tags: ['t49'] })
  const toQuery = (count: number) => Array.from({ length: count }, (_, at) => `tag=t${at}`).join('&')

  expect(await listed(ann, toQuery(50))).toEqual(['a'])
  expect(await ann.get(`/api/apps?${toQuery(51)}`)).toMatchObject({
    status: 422,
    body: { errors: { tag: ['must have at most 50 items'] } },
  })
})

test('lists come in pages of 25, or as many as were asked for, and say where they stand', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await Promise.all(Array.from({ length: 30 }, () => ann.post('/api/apps', { type: 'chat' })))
  const page = async (query: string) => {
    const { body } = await ann.get(`/api/apps?${query}`)
    return [body.data?.length, body.start, body.end, body.count]
  }

  expect(await page('')).toEqual([25, '0', '25', '30'])
  expect(await page('skip=25')).toEqual([5, '25', '30', '30'])
  expect(await page('skip=10&take=7')).toEqual([7, '10', '17', '30'])
  expect(await page('take=100')).toEqual([30, '0', '30', '30'])
  expect(await page('skip=30')).toEqual([undefined, '30', '30', '30'])
  expect(await page('skip=9007199254740991')).toEqual([undefined, '9007199254740991', '9007199254740991', '30'])
  expect((await ann.get('/api/apps?count_only=true&take=3')).body).toEqual({ count: '30' })
  const refused = ['take=0', 'take=101', 'take=-1', 'take=x', 'take=1.5', 'take=1e1', 'take=99999999999999999999']
  for (const query of [
    ...refused,
    'skip=-1',
    'skip=x',
    'skip=1.5',
    'skip=9007199254740992',
    'count_only=1',
    'trashed=yes',
  ]) {
    const { status, body } = await ann.get(`/api/apps?${query}`)
    expect([query, status, Object.keys(body.errors ?? {})]).toEqual([query, 422, [query.split('=')[0]]])
  }
})

test('what is pinned, archived or unread depends on who asks, and is nothing to an API key', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await ann.post(`/api/apps/${app}/messages`, { text: 'hi' })
  await ann.put(`/api/apps/${app}/pin`)
  await ann.put(`/api/apps/${app}/archive`)
  const count = async (one: Client, query: string) => (await one.get(`/api/apps?count_only=true&${query}`)).body.count

  const queries = ['unread=true', 'unread=false', 'archived=true', 'archived=false']
  expect(await Promise.all(queries.map(query => count(ann, query)))).toEqual(['0', '1', '1', '0'])
  expect(await Promise.all(queries.map(query => count(ben, query)))).toEqual(['1', '0', '0', '1'])
  expect(await Promise.all(queries.map(query => count(server.admin, query)))).toEqual(['0', '1', '0', '1'])
  expect((await ann.get(`/api/apps/${app}`)).body.is_pinned).toBe(true)
  expect((await ben.get(`/api/apps/${app}`)).body.is_pinned).toBe(false)
  await ann.delete(`/api/apps/${app}/pin`)
  expect((await ann.get(`/api/apps/${app}`)).body.is_pinned).toBe(false)
  for (const query of ['unread=1', 'archived=null', 'type=forum']) {
    expect((await ann.get(`/api/apps?${query}`)).status).toBe(422)
  }
})

test('a list that is read while its apps are being deleted loses these, and nothing else', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const made = await Promise.all(Array.from({ length: 12 }, () => ann.post('/api/apps', { type: 'chat' })))
  for (const { body } of made) await ann.post(`/api/apps/${body.id}/messages`, { text: 'hi' })

  const answers = await Promise.all([
    ...made.map(({ body }) => ann.delete(`/api/apps/${body.id}`)),
    ...Array.from({ length: 10 }, (_, i) => ann.get(`/api/${i % 2 ? 'apps' : 'messages'}`)),
  ])

  for (const { status } of answers) expect([200, 204]).toContain(status)
  expect(await listed(ann)).toEqual([])
})

test('subscribing is a choice: it is made by default for creators and conversations, and kept', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: chat } = await ann.post('/api/apps', { type: 'chat', members: [ben.id] })
  const { body: room } = await ann.post('/api/apps', { type: 'chat_room', members: [ben.id] })
  const state = async (one: Client, app: Body) => (await one.get(`/api/apps/${app.id}`)).body.is_subscribed

  expect([await state(ann, chat), await state(ben, chat)]).toEqual([true, false])
  expect([await state(ann, room), await state(ben, room)]).toEqual([true, true])
  expect(await ben.post(`/api/apps/${chat.id}/subscribe`)).toMatchObject({ status: 200, body: { is_subscribed: true } })
  expect(await ben.post(`/api/apps/${room.id}/unsubscribe`)).toMatchObject({
    status: 200,
    body: { is_subscribed: false },
  })
  await ben.post(`/api/apps/${room.id}/messages`, { text: 'still not' })
  expect([await state(ben, chat), await state(ben, room)]).toEqual([true, false])
})
