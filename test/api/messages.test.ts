import { expect, test } from 'vitest'
import { insertAgent } from '../support/agent.ts'
import type { Body, Client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

const id = expect.stringMatching(/^\d+$/)
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
const none = { start: '0', end: '0', count: '0' }
/** What a whole item has beside its summary and its author, where there is nothing in it. */
const noLists = { annotations: none, attachments: none, options: none, reactions: none }

test('a message comes back with all that was given, rendered, with its app and author', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const given = { text: 'Hello **Ben**\r\n', metadata: { a: null, b: [] }, tags: ['x', ' y ', 'X'] }

  const sent = await ann.post(`/api/apps/${app}/messages`, given)

  expect(sent.status).toBe(201)
  const { app: shown, ...message } = sent.body
  expect(message).toEqual({
    ...noLists,
    id,
    text: 'Hello **Ben**\n',
    html: '<p>Hello <strong>Ben</strong></p>',
    plain: 'Hello Ben',
    metadata: { a: null, b: [] },
    tags: ['x', 'y'],
    is_starred: false,
    is_subscribed: true,
    is_trashed: false,
    created_at: timestamp,
    created_by: { id: ann.id, uid: ann.uid, name: 'Ann', is_trashed: false, created_at: timestamp },
  })
  expect(shown).toMatchObject({ id: app, name: 'Ben', permissions: ['list', 'read', 'create'], is_unread: false })
  const { body: seen } = await ben.get(`/api/messages/${message.id}`)
  expect(seen).toMatchObject({ ...message, app: { id: app, name: 'Ann', is_unread: true } })
  expect((await ann.get(`/api/messages/${message.id}`)).body).toEqual(sent.body)
})

test('list items are summaries; details, numbers or both come to those who ask', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'hi', metadata: { n: 1 }, tags: ['t'] })
  const path = `/api/apps/${app}/messages`
  const { app: _app, created_by: _by, ...more } = message
  const summary = Object.fromEntries(Object.entries(more).filter(([name]) => !(name in noLists)))

  const plain = await ann.get(path)
  const details = await ann.get(`${path}?out=details`)
  const numbers = await ann.get(path, { prefer: 'scalars=number' })
  const kit = await ann.get(path, { 'x-weavy-source': '@weavy/uikit-web@32.2.0' })
  const spare = await ann.get(`${path}?out=summary`, { 'x-weavy-source': '@weavy/uikit-web@32.2.0' })

  expect(plain.body).toEqual({ data: [summary], start: '0', end: '1', count: '1' })
  expect(details.body.data).toEqual([message])
  expect(numbers.body).toEqual({ data: [{ ...summary, id: Number(message.id) }], start: 0, end: 1, count: 1 })
  expect(numbers.headers.get('preference-applied')).toBe('scalars=number')
  expect(kit.body.data[0]).toMatchObject({
    id: Number(message.id),
    app: { id: Number(app) },
    created_by: { id: Number(ann.id) },
  })
  expect(spare.body.data[0]).toEqual({ ...summary, id: Number(message.id) })
  expect((await ann.get(`/api/apps/${app}`)).body.last_message).toEqual({ ...summary, created_by: message.created_by })
  const { body: apps } = await ann.get('/api/apps', { 'x-weavy-source': 'kit' })
  expect(apps.data[0]).toMatchObject({ members: { count: 1 }, last_message: { app: { id: Number(app) } } })
})

test('what an API key writes is written by the system user', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)

  const { status, body } = await server.admin.post(`/api/apps/${app}/messages`, { text: 'Maintenance at noon' })

  expect(status).toBe(201)
  expect(body).toMatchObject({
    created_by: { id: '0', name: 'System' },
    is_subscribed: false,
    app: { is_unread: false },
  })
  expect((await ann.get(`/api/messages/${body.id}`)).body).toMatchObject({
    created_by: { id: '0' },
    app: { is_unread: true },
  })
  expect((await server.admin.patch(`/api/messages/${body.id}`, { text: 'At one' })).body.updated_by.id).toBe('0')
})

test('what no message can be made of is refused by field, and nothing is sent', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'here' })
  const refused: [unknown, string][] = [
    [{}, 'text'],
    [{ text: '' }, 'text'],
    [{ text: ' \n\t ' }, 'text'],
    [{ text: null, blobs: [], options: [], embed_id: null, metadata: null }, 'text'],
    [{ text: 1 }, 'text'],
    [{ text: ['a'] }, 'text'],
    [{ text: 'x'.repeat(65_537) }, 'text'],
    [{ text: 'x', metadata: 'y' }, 'metadata'],
    [{ text: 'x', metadata: { big: 'x'.repeat(65_536) } }, 'metadata'],
    [{ text: 'x', tags: 'y' }, 'tags'],
    [{ text: 'x', tags: [1] }, 'tags.0'],
    [{ text: 'x', tags: ['y'.repeat(65)] }, 'tags.0'],
    [[], 'body'],
    ['"text"', 'body'],
  ]

  const answers = await Promise.all(refused.map(([body]) => ann.post(`/api/apps/${app}/messages`, body)))

  const fields = answers.map(({ status, body }, i) => [refused[i]![0], status, Object.keys(body.errors ?? {})])
  expect(fields).toEqual(refused.map(([body, field]) => [body, 422, [field]]))
  expect((await ann.post(`/api/apps/${app}/messages`, '{"text":')).status).toBe(400)
  expect((await ann.get(`/api/apps/${app}/messages`)).body.count).toBe('1')
  for (const text of ['', '  ', null]) {
    const { status, body } = await ann.patch(`/api/messages/${message.id}`, { text })
    expect([text, status, Object.keys(body.errors)]).toEqual([text, 422, ['text']])
  }
  expect((await ann.post(`/api/apps/${app}/messages`, { text: 'x'.repeat(65_536), unknown: true })).status).toBe(201)
})

test('only chats hold messages', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  for (const type of ['posts', 'files', 'comments']) {
    const { body: app } = await ann.post('/api/apps', { type })
    expect((await ann.post(`/api/apps/${app.id}/messages`, { text: 'hi' })).body).toMatchObject({
      status: 400,
      code: 'wrong-app-type',
    })
    expect((await ann.get(`/api/apps/${app.id}/messages`)).body).toEqual({ start: '0', end: '0', count: '0' })
  }
})

test('what names no message is not found', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  for (const name of ['0', '-1', '1', '1.5', 'x', '9'.repeat(15), '9'.repeat(40), '%00', '1e3', '%20']) {
    const answers = [
      await ann.get(`/api/messages/${name}`),
      await ann.patch(`/api/messages/${name}`, { text: 'x' }),
      await ann.delete(`/api/messages/${name}`),
      await ann.post(`/api/messages/${name}/trash`),
      await server.admin.post(`/api/messages/${name}/restore`),
      await server.admin.get(`/api/messages?around=${name}`),
    ]
    // NUL cannot be in a query either.
    expect([name, answers.map(({ status }) => status)]).toEqual([
      name,
      [404, 404, 404, 404, 404, name === '%00' ? 422 : 404],
    ])
  }
})

test('mentions name those who can read the app; others are words, whatever they are called', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const helper = await insertAgent(database.url, 'helper')
  const [ann, ben, out, gone] = await Promise.all(['Ann', 'Ben', 'Out', 'Gone'].map(server.person))
  const { body: app } = await ann!.post('/api/apps', { type: 'chat', members: [ben!.id, gone!.id, helper] })
  await server.admin.post(`/api/users/${gone!.id}/trash`)
  const say = async (text: string) => (await ann!.post(`/api/apps/${app.id}/messages`, { text })).body
  const mentioned = (html: string) => Array.from(html.matchAll(/data-eid="u(\d+)"/g), match => match[1])

  const all = await say(`[Ben](@u${ben!.id}) [Out](@u${out!.id}) [Gone](@u${gone!.id}) [Helper](@helper) [No](@u99999)`)
  const byUid = await say(`ask [Ben](@${ben!.uid.toUpperCase()}), not [Nobody](@nobody)`)
  const code = await say(`\`[Ben](@u${ben!.id})\``)

  expect(mentioned(all.html)).toEqual([ben!.id, helper])
  expect(all.plain).toBe('@Ben Out Gone @Helper No')
  expect(byUid.text).toBe(`ask [Ben](@u${ben!.id}), not [Nobody](@nobody)`)
  expect(mentioned(byUid.html)).toEqual([ben!.id])
  expect(mentioned(code.html)).toEqual([])
  await ann!.put(`/api/apps/${app.id}/members/${ben!.id}`, { access: 'none' })
  expect(mentioned((await say(`[Ben](@u${ben!.id})`)).html)).toEqual([])
  await ann!.patch(`/api/apps/${app.id}`, { access: 'read' })
  expect(mentioned((await say(`[Out](@u${out!.id})`)).html)).toEqual([out!.id])
})

test('the uid of somebody out of sight stays in a text, like one that nobody has', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const [seen, out] = [await server.person('Seen'), await server.person('Out')]
  const { body: app } = await server.admin.post('/api/apps', { type: 'chat', members: [ann.id, ben.id] })
  await server.admin.post('/api/directories', { name: 'acme' })
  await server.admin.put('/api/directories/acme/members', [ann.id, seen.id])
  const path = `/api/apps/${app.id}/messages`
  const text = [ben, seen, out, { uid: 'nobody' }].map(({ uid }) => `[x](@${uid})`).join(' ')
  const kept = `[x](@${out.uid}) [x](@nobody)`

  const { body: sent } = await ann.post(path, { text })
  const { body: edited } = await ann.patch(`/api/messages/${sent.id}`, { text: `${text}!` })
  const { body: byKey } = await server.admin.post(path, { text })

  expect(sent.text).toBe(`[x](@u${ben.id}) [x](@u${seen.id}) ${kept}`)
  expect(sent.html).toContain(' x x x')
  expect(edited.text).toBe(`${sent.text}!`)
  expect(byKey.text).toContain(`(@u${out.id})`)
  await server.admin.patch(`/api/apps/${app.id}`, { access: 'read' })
  expect((await ann.post(path, { text })).body.plain).toBe('@x @x @x x')
})

test('the messages of a deleted user stay, and say that their author is gone', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const { body: message } = await ben.post(`/api/apps/${app}/messages`, { text: 'bye' })
  await ben.patch(`/api/messages/${message.id}`, { text: 'goodbye' })

  await server.admin.delete(`/api/users/${ben.id}`)

  const gone = { id: '-1', name: 'Deleted user' }
  expect((await ann.get(`/api/messages/${message.id}`)).body).toMatchObject({
    text: 'goodbye',
    created_by: gone,
    updated_by: gone,
  })
  expect((await ann.get(`/api/apps/${app}/messages?out=details`)).body.data[0].created_by).toMatchObject(gone)
  expect((await ann.get(`/api/apps/${app}`)).body.is_unread).toBe(true)
  expect((await ann.post(`/api/messages/${message.id}/trash`)).status).toBe(403)
})

test('messages sent at once by many get ids in one order, the one in which everybody lists them', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(4)
  const path = `/api/apps/${app}/messages`

  const sent = await Promise.all(
    Array.from({ length: 80 }, (_, i) => people[i % people.length]!.post(path, { text: `message ${i}` })),
  )

  const ids = sent.map(({ body }) => Number(body.id)).toSorted((a, b) => a - b)
  expect(new Set(ids).size).toBe(80)
  const listed = await Promise.all(people.map(async one => (await one.get(`${path}?take=100`)).body.data))
  for (const list of listed) expect(list.map((item: Body) => Number(item.id))).toEqual(ids)
  expect((await people[0]!.get(`/api/apps/${app}`)).body.last_message.id).toBe(String(ids.at(-1)))
})

test('the list over all apps holds what the caller may read, and nothing else', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const make = async (body: object) => (await ann.post('/api/apps', { type: 'chat', ...body })).body.id
  const apps = {
    shared: await make({ members: [ben.id] }),
    own: await make({}),
    open: await make({ access: 'read' }),
    shut: await make({ access: 'write', members: [ben.id] }),
  }
  await ann.put(`/api/apps/${apps.shut}/members/${ben.id}`, { access: 'none' })
  for (const [name, app] of Object.entries(apps))
    await ann.post(`/api/apps/${app}/messages`, { text: `in ${name}`, tags: [name] })
  const texts = async (one: Client, query = '') =>
    ((await one.get(`/api/messages?${query}`)).body.data ?? []).map((item: Body) => item.text)

  expect(await texts(ann)).toEqual(['in shared', 'in own', 'in open', 'in shut'])
  expect(await texts(ben)).toEqual(['in shared', 'in open'])
  expect(await texts(server.admin)).toEqual(['in shared', 'in own', 'in open', 'in shut'])
  expect(await texts(ben, 'order_by=id+desc&take=1')).toEqual(['in open'])
  expect(await texts(ben, 'q=OPEN')).toEqual(['in open'])
  expect(await texts(ben, 'q=own')).toEqual([])
  expect(await texts(ann, 'tag=shut&tag=own')).toEqual(['in own', 'in shut'])
  expect((await ben.get('/api/messages?count_only=true')).body).toEqual({ count: '2' })
  const details = (await ben.get('/api/messages?out=details')).body.data
  expect(details.map((item: Body) => [item.app.id, item.app.permissions.length])).toEqual([
    [apps.shared, 3],
    [apps.open, 2],
  ])
})
