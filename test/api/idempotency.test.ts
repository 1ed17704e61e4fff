import { join } from 'node:path'
import { expect, test } from 'vitest'
import { client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { createDirectory } from '../support/process.ts'
import { startServer } from '../support/server.ts'
import { keptIn, upload } from '../support/uploads.ts'

const idempotencyKey = (key: string) => ({ 'idempotency-key': key })

test('twenty requests with one key at once make one message, and all get its answer', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const send = () => ann.post(`/api/apps/${app}/messages`, { text: 'once' }, idempotencyKey('k1'))

  const answers = await Promise.all(Array.from({ length: 20 }, send))

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  expect((await ann.get(`/api/apps/${app}/messages`)).body.count).toBe('1')
})

test('a repeated request gets the first answer, whatever has become of the message since', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const body = { text: '**first**', metadata: { created_at: 'mine', n: 1.5 }, tags: ['t'] }
  const send = () => ann.post(`/api/apps/${app}/messages`, body, idempotencyKey('k1'))
  const { body: first } = await send()
  const { app: _, ...message } = first
  const isFirst = async () => {
    const answer = await send()
    expect(answer).toMatchObject({ status: 201, body: message })
    expect(answer.body).not.toHaveProperty('updated_at')
  }

  await isFirst()
  await ann.patch(`/api/messages/${first.id}`, { text: 'edited', metadata: null, tags: [] })
  await isFirst()
  await ann.post(`/api/messages/${first.id}/trash`)
  await isFirst()
  await ann.delete(`/api/messages/${first.id}`)
  await isFirst()

  expect((await ann.get(`/api/apps/${app}/messages?trashed=null`)).body.count).toBe('0')
})

test('a repeated request gets the first answer also where it would be refused by now', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const send = () => ann.post(`/api/apps/${app}/messages`, { text: 'once' }, idempotencyKey('k1'))
  const { body: first } = await send()

  await server.admin.put(`/api/apps/${app}/members/${ann.id}`, { access: 'read' })
  await server.admin.post(`/api/apps/${app}/messages`, { text: 'Ann may only read' })

  expect(await send()).toMatchObject({ status: 201, body: { id: first.id } })
  expect(await ann.post(`/api/apps/${app}/messages`, { text: 'once' }, idempotencyKey('k2'))).toMatchObject({
    status: 403,
  })
})

test('whoever repeats a request sees nothing of an app that they have lost since', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: blob } = await upload(ann, { name: 'plan.txt', content: 'the plan' })
  const items = { chat: ['messages', { text: 'hi' }], posts: ['posts', { text: 'hi' }] } as const
  const others = { comments: ['comments', { text: 'hi' }], files: ['files', { blob_id: blob.id }] } as const

  for (const [type, [plural, item]] of Object.entries({ ...items, ...others })) {
    const make = () => ann.post('/api/apps', { type, uid: type, members: [ben.id] }, idempotencyKey(`${type} app`))
    const add = () => ann.post(`/api/apps/${type}/${plural}`, item, idempotencyKey(`${type} item`))
    const answers = async () => (await Promise.all([make(), add()])).map(({ status, body }) => [status, body.id])
    const first = [
      [201, (await make()).body.id],
      [201, (await add()).body.id],
    ]
    const lost = [
      [404, undefined],
      [404, undefined],
    ]

    await ann.put(`/api/apps/${type}/members/${ben.id}`, { access: 'admin' })
    await ben.delete(`/api/apps/${type}/members/${ann.id}`)
    expect([type, await answers()]).toEqual([type, lost])
    await ben.put(`/api/apps/${type}/members/${ann.id}`)
    expect([type, await answers()]).toEqual([type, first])
    await ben.post(`/api/apps/${type}/trash`)
    expect([type, await answers()]).toEqual([type, lost])
    await ben.post(`/api/apps/${type}/restore`)
    expect([type, await answers()]).toEqual([type, first])
    expect((await ben.get(`/api/apps/${type}/${plural}`)).body.count).toBe('1')
  }
})

test('another request under the same key is refused, and does nothing', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const { body: other } = await ann.post('/api/apps', { type: 'chat' }, idempotencyKey('other'))
  await ann.post(`/api/apps/${app}/messages`, { text: 'first' }, idempotencyKey('k1'))
  const attempts = [
    [`/api/apps/${app}/messages`, { text: 'second' }],
    [`/api/apps/${app}/messages`, { text: 'first', tags: [] }],
    [`/api/apps/${other.id}/messages`, { text: 'first' }],
    ['/api/apps', { type: 'chat' }],
  ] as const

  for (const [path, body] of attempts) {
    const answer = await ann.post(path, body, idempotencyKey('k1'))
    expect(answer).toMatchObject({ status: 422, body: { code: 'idempotency-key-reused' } })
    expect(Object.keys(answer.body.errors)).toEqual(['Idempotency-Key'])
  }
  expect((await ann.get('/api/messages')).body.count).toBe('1')
  expect((await ann.get('/api/apps')).body.count).toBe('2')
})

test('different requests under one key at once: one is done, the others are refused', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const apps = await Promise.all(Array.from({ length: 6 }, () => ann.post('/api/apps', { type: 'chat' })))

  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all([
      ...apps.map(({ body }) =>
        ann.post(`/api/apps/${body.id}/messages`, { text: 'hi' }, idempotencyKey(`round ${round}`)),
      ),
      ann.post('/api/apps', { type: 'posts' }, idempotencyKey(`round ${round}`)),
    ])
    const statuses = answers.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([201, ...answers.slice(1).map(() => 422)])
  }
  const messages = Number((await ann.get('/api/messages')).body.count)
  const made = Number((await ann.get('/api/apps?type=posts')).body.count)
  expect(messages + made).toBe(5)
})

test('a key is still known when the token was renewed', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const path = `/api/apps/${app}/messages`
  const { body } = await server.admin.post(`/api/users/${ann.id}/tokens`)
  const renewed = client(server.url, body.access_token)

  const first = await ann.post(path, { text: 'once' }, idempotencyKey('k1'))
  const again = await renewed.post(path, { text: 'once' }, idempotencyKey('k1'))
  const other = await renewed.post(path, { text: 'another' }, idempotencyKey('k1'))

  expect(again).toMatchObject({ status: 201, body: { id: first.body.id } })
  expect(other).toMatchObject({ status: 422, body: { code: 'idempotency-key-reused' } })
})

test('different texts for one app under one key at once: one is sent, the others are refused', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)

  const send = (_: unknown, i: number) =>
    ann.post(`/api/apps/${app}/messages`, { text: `text ${i}` }, idempotencyKey('k1'))
  const answers = await Promise.all(Array.from({ length: 10 }, send))

  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...answers.slice(1).map(() => 422)])
  expect((await ann.get(`/api/apps/${app}/messages`)).body.count).toBe('1')
})

test('a key is its user’s or API key’s own, and only for requests that create', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const path = `/api/apps/${app}/messages`

  const sent = await Promise.all(
    [ann, ben, server.admin].map(one => one.post(path, { text: 'hi' }, idempotencyKey('k1'))),
  )
  const edits = [
    await ann.patch(`/api/messages/${sent[0]!.body.id}`, { text: 'one' }, idempotencyKey('k2')),
    await ann.patch(`/api/messages/${sent[0]!.body.id}`, { text: 'two' }, idempotencyKey('k2')),
  ]

  expect(new Set(sent.map(({ body }) => body.id)).size).toBe(3)
  expect(edits.map(({ body }) => body.text)).toEqual(['one', 'two'])
})

test('a refused request may be sent again under its key', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const { body: app } = await server.admin.post('/api/apps', { type: 'chat' })
  const send = () => ann.post(`/api/apps/${app.id}/messages`, { text: 'let me in' }, idempotencyKey('k1'))

  expect((await send()).status).toBe(404)
  await server.admin.put(`/api/apps/${app.id}/members/${ann.id}`)
  expect((await send()).status).toBe(201)
})

test('the first answer outlives the node that gave it', async () => {
  await using database = await createDatabase()
  let first
  const request = { text: 'once', metadata: { a: [1, { b: null }] } }
  const { app, token } = await (async () => {
    await using server = await startServer({ DATABASE_URL: database.url })
    const {
      app,
      people: [ann],
    } = await server.chatWith(1)
    first = await ann.post(`/api/apps/${app}/messages`, request, idempotencyKey('k1'))
    return { app, token: ann.token }
  })()

  await using server = await startServer({ DATABASE_URL: database.url })
  const again = await server.request('POST', `/api/apps/${app}/messages`, {
    body: request,
    headers: idempotencyKey('k1'),
    token,
  })

  expect(again).toMatchObject({ status: 201, body: { ...first!.body, app: { id: app } } })
  expect((await server.admin.get(`/api/apps/${app}/messages`)).body.count).toBe('1')
})

test('an app is made once under a key, a private chat too', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const make = (key: string, body: object) => ann.post('/api/apps', body, idempotencyKey(key))

  const rooms = await Promise.all(
    Array.from({ length: 10 }, () => make('room', { type: 'chat_room', members: [ben.id] })),
  )
  const pairs = await Promise.all(
    Array.from({ length: 10 }, () => make('pair', { type: 'private_chat', members: [ben.id] })),
  )

  for (const made of [rooms, pairs]) {
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1)
  }
  expect((await ann.get('/api/apps')).body.count).toBe('2')
})

test('a vote that is repeated under its key is not withdrawn', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { options: [{ text: 'yes' }] })
  const vote = (key: string) =>
    ann.post(`/api/options/${message.options.data[0].id}/vote`, undefined, idempotencyKey(key))

  const [first, repeated] = [await vote('k1'), await vote('k1')]
  const withdrawn = await vote('k2')

  expect(first).toMatchObject({ status: 200, body: { has_voted: true, votes: { count: '1' } } })
  expect(repeated).toMatchObject({ status: 200, body: first.body })
  expect(withdrawn.body.votes.count).toBe('0')
})

test('a file that is uploaded again under its key is kept once, and another one is refused', async () => {
  await using folder = createDirectory()
  await using server = await startServer({ DATA_DIR: folder.path })
  const ann = await server.person('Ann')
  const send = (content: string, name = 'notes.txt') => {
    const form = new FormData()
    form.append('blob', new Blob([content]), name)
    return ann.post('/api/blobs', form, idempotencyKey('k1'))
  }

  const answers = await Promise.all([send('walnuts'), send('walnuts')])
  answers.push(await send('walnuts'))
  const kept = keptIn(join(folder.path, 'blobs'))
  const others = [await send('almonds'), await send('walnuts', 'other.txt')]

  expect(answers.map(({ status, body }) => [status, body.size])).toEqual(answers.map(() => [201, '7']))
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  expect(others.map(({ status, body }) => [status, body.code])).toEqual(
    others.map(() => [422, 'idempotency-key-reused']),
  )
  expect(kept).toHaveLength(1)
})

test('a key that is no key is refused', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)

  for (const key of ['x'.repeat(256), 'tab\there']) {
    const { status, body } = await ann.post(`/api/apps/${app}/messages`, { text: 'hi' }, idempotencyKey(key))
    expect([key, status, Object.keys(body.errors ?? {})]).toEqual([key, 422, ['Idempotency-Key']])
  }
  expect((await ann.post(`/api/apps/${app}/messages`, { text: 'hi' }, idempotencyKey('x'.repeat(255)))).status).toBe(
    201,
  )
})
