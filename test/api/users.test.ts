import { expect, test } from 'vitest'
import { User } from '../../src/resources/users/schema.ts'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

const dot = { name: 'dot.svg', content: '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="1"/>' }

test('a user comes back with all that was given, except its password', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'acme' })
  const profile = {
    uid: 'ann',
    name: 'Ann Lee',
    given_name: 'Ann',
    middle_name: 'B.',
    family_name: 'Lee',
    nickname: 'Annie',
    email: 'ann@example.com',
    phone_number: '+46 8 123',
    username: 'ann.lee',
    comment: 'On leave\nuntil May',
    metadata: { plan: 'pro', seats: 3, nested: { none: null, list: [] } },
    tags: ['vip', 'eu'],
  }

  const made = await server.admin.post('/api/users', { ...profile, password: 'correct horse', directories: ['acme'] })

  expect(made.status).toBe(201)
  expect(made.body).toEqual({
    ...profile,
    id: expect.stringMatching(/^\d+$/),
    directories: [{ id: '1', name: 'acme' }],
    presence: 'away',
    is_trashed: false,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  })
  expect((await server.admin.get('/api/users/ann')).body).toEqual(made.body)
  User.strict().parse(made.body)
})

test('a user is called by the first of its names that was given', async () => {
  await using server = await startServer()
  const names = [
    [{ name: 'Ann Lee', given_name: 'Other', nickname: 'Annie' }, 'Ann Lee'],
    [{ given_name: 'Ann', family_name: 'Lee', nickname: 'Annie', username: 'al' }, 'Ann Lee'],
    [{ given_name: 'Ann', middle_name: 'B.', family_name: 'Lee' }, 'Ann B. Lee'],
    [{ nickname: 'Annie', username: 'ann' }, 'Annie'],
    [{ username: 'lee' }, 'lee'],
    [{ name: '  ' }, 'uid-5'],
    [{}, 'uid-6'],
  ] as const

  const made = await Promise.all(
    names.map(([given], i) => server.admin.post('/api/users', { uid: `uid-${i}`, ...given })),
  )

  expect(made.map(({ body }) => body.name)).toEqual(names.map(([, shown]) => shown))
})

test('a user whose every name was cleared is called by its id', async () => {
  await using server = await startServer()
  await server.admin.post('/api/users', { uid: 'ann', name: 'Ann' })

  const { body } = await server.admin.patch('/api/users/ann', { uid: null, name: null })

  expect(body).toMatchObject({ name: `User ${body.id}` })
  expect(body).not.toHaveProperty('uid')
})

test('uids and usernames are taken whatever their case', async () => {
  await using server = await startServer()
  await server.admin.post('/api/users', { uid: 'Ann', username: 'Ann.Lee' })
  await server.admin.post('/api/users', { uid: 'ben', username: 'ben' })

  const sameUid = await server.admin.post('/api/users', { uid: 'aNN' })
  const sameUsername = await server.admin.post('/api/users', { uid: 'eve', username: 'ann.lee' })
  const moved = await server.admin.patch('/api/users/ben', { uid: 'ann', username: 'x' })
  const renamed = await server.admin.patch('/api/users/ben', { username: 'ANN.LEE' })
  const upserted = await server.admin.put('/api/users/eve', { username: 'ANN.LEE' })

  expect([sameUid, moved].map(({ status, body }) => [status, Object.keys(body.errors)])).toEqual([
    [422, ['uid']],
    [422, ['uid']],
  ])
  expect([sameUsername, renamed, upserted].map(({ status, body }) => [status, Object.keys(body.errors)])).toEqual([
    [422, ['username']],
    [422, ['username']],
    [422, ['username']],
  ])
  expect((await server.admin.get('/api/users?count_only=true')).body).toEqual({ count: '2' })
  expect((await server.admin.get('/api/users/ben')).body).toMatchObject({ uid: 'ben', username: 'ben' })
})

test('an update leaves what is absent, clears what is null and replaces lists and metadata as a whole', async () => {
  await using server = await startServer()
  const before = { uid: 'ann', name: 'Ann', email: 'ann@example.com', tags: ['a', 'b'], metadata: { a: 1, b: 2 } }
  await server.admin.post('/api/users', before)

  const { status, body } = await server.admin.patch('/api/users/ann', {
    email: null,
    nickname: 'Annie',
    tags: ['c'],
    metadata: { c: 3 },
    unknown: 'ignored',
  })

  expect(status).toBe(200)
  expect(body).toMatchObject({ uid: 'ann', name: 'Ann', nickname: 'Annie', tags: ['c'], metadata: { c: 3 } })
  expect(body).not.toHaveProperty('email')
  expect(body).not.toHaveProperty('unknown')
  expect(body.updated_at).toBeDefined()
})

test('an update that changes nothing leaves no trace', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'acme' })
  const profile = { uid: 'ann', name: 'Ann', tags: ['a'], metadata: { b: 1, a: [2] }, directories: ['acme'] }
  await server.admin.put('/api/users/ann', profile)

  const again = await server.admin.put('/api/users/ann', profile)
  const patched = await server.admin.patch('/api/users/ann', { name: 'Ann', email: null })

  expect(again.status).toBe(200)
  expect(again.body).not.toHaveProperty('updated_at')
  expect(patched.body).not.toHaveProperty('updated_at')
})

test('an upsert creates a user once and then updates it', async () => {
  await using server = await startServer()

  const first = await server.admin.put('/api/users/Ann', { name: 'Ann' })
  const second = await server.admin.put('/api/users/ann', { email: 'ann@example.com' })

  expect([first.status, second.status]).toEqual([201, 200])
  expect(second.body).toMatchObject({ id: first.body.id, uid: 'Ann', name: 'Ann', email: 'ann@example.com' })
})

test('upserts of one new user at the same time make one user', async () => {
  await using server = await startServer()

  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) => server.admin.put('/api/users/ann', { nickname: `${i}` })),
  )

  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(11).fill(200), 201])
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
})

test('an upsert may rename the user that it finds, but not the one that it makes', async () => {
  await using server = await startServer()
  await server.admin.post('/api/users', { uid: 'ann' })

  const renamed = await server.admin.put('/api/users/ann', { uid: 'anna' })
  const made = await server.admin.put('/api/users/ben', { uid: 'benjamin' })

  expect(renamed.body).toMatchObject({ uid: 'anna' })
  expect(made).toMatchObject({ status: 422, body: { errors: { uid: ['must be the one in the path'] } } })
  expect((await server.admin.get('/api/users/ben')).status).toBe(404)
})

test('an Idempotency-Key keeps a repeated request from making a second user', async () => {
  await using server = await startServer()
  const idempotencyKey = { 'idempotency-key': 'k1' }

  const first = await server.admin.post('/api/users', { uid: 'ann' }, idempotencyKey)
  const again = await server.admin.post('/api/users', { uid: 'ann' }, idempotencyKey)
  const other = await server.admin.post('/api/users', { uid: 'ben' }, idempotencyKey)

  expect(again).toMatchObject({ status: 201, body: first.body })
  expect(other.status).toBe(422)
})

test('the directories of a user are replaced as a whole; unknown ones refuse the write', async () => {
  await using server = await startServer()
  for (const name of ['acme', 'globex', 'hooli']) await server.admin.post('/api/directories', { name })
  const { body: acme } = await server.admin.get('/api/directories/acme')
  const names = (body: { directories?: { name: string }[] }) => body.directories?.map(({ name }) => name)

  const made = await server.admin.post('/api/users', { uid: 'ann', directories: [acme.id, 'GLOBEX', 'globex'] })
  const moved = await server.admin.patch('/api/users/ann', { directories: ['hooli', Number(acme.id)] })
  const refused = await server.admin.patch('/api/users/ann', { name: 'X', directories: ['hooli', 'nowhere', '999'] })
  const kept = await server.admin.get('/api/users/ann')
  const cleared = await server.admin.patch('/api/users/ann', { directories: null })

  expect(names(made.body)).toEqual(['acme', 'globex'])
  expect(names(moved.body)).toEqual(['acme', 'hooli'])
  expect(refused).toMatchObject({ status: 422, body: { errors: { directories: ['unknown: nowhere, 999'] } } })
  expect(names(kept.body)).toEqual(['acme', 'hooli'])
  expect(kept.body.name).toBe('ann')
  expect(cleared.body).not.toHaveProperty('directories')
})

test('a user is refused with the name of the field that is wrong', async () => {
  await using server = await startServer()
  const hostile: [string, unknown][] = [
    ['uid', undefined],
    ['uid', null],
    ['uid', ''],
    ['uid', '123'],
    ['uid', 'with space'],
    ['uid', 'line\nbreak'],
    ['uid', 'bell\u0007'],
    ['uid', '-1'],
    ['uid', 'x'.repeat(257)],
    ['uid', 7],
    ['uid', ['ann']],
    ['name', 'x'.repeat(257)],
    ['name', 'two\nlines'],
    ['name', { first: 'Ann' }],
    ['given_name', 'x'.repeat(65)],
    ['middle_name', 'x'.repeat(65)],
    ['family_name', 'x'.repeat(65)],
    ['nickname', 'x'.repeat(33)],
    ['phone_number', 'x'.repeat(33)],
    ['email', 'no-address'],
    ['email', 'two@at@signs'],
    ['email', 'with space@example.com'],
    ['email', `${'x'.repeat(251)}@a.com`],
    ['username', 'x'.repeat(257)],
    ['username', 5],
    ['password', 'short'],
    ['password', 'x'.repeat(257)],
    ['password', 12_345_678],
    ['comment', 'x'.repeat(1025)],
    ['comment', 'nul\u0000'],
    ['metadata', 'text'],
    ['metadata', [1]],
    ['metadata', { big: 'x'.repeat(65_536) }],
    ['metadata', { nul: '\u0000' }],
    ['metadata', { half: '\ud800' }],
    ['tags', 'a'],
    ['tags', [' ']],
    ['tags', ['x'.repeat(65)]],
    ['tags', Array.from({ length: 51 }, (_, i) => `t${i}`)],
    ['directories', 'acme'],
    ['directories', [{}]],
    ['directories', ['']],
    ['directories', Array.from({ length: 501 }, (_, i) => i)],
    ['picture', '7'],
    ['picture', 'https://example.com/a.png'],
  ]

  const answers = await Promise.all(
    hostile.map(([field, value]) => server.admin.post('/api/users', { uid: 'ann', [field]: value })),
  )

  const refusals = answers.map(({ status, body }) => [status, ...Object.keys(body.errors ?? {}).map(toField)])
  expect(refusals).toEqual(hostile.map(([field]) => [422, field]))
  expect((await server.admin.get('/api/users?count_only=true')).body).toEqual({ count: '0' })
})

test('what cannot be a uid cannot be upserted', async () => {
  await using server = await startServer()
  const uids = ['123', 'a%20b', '-1', 'x'.repeat(257)]

  const answers = await Promise.all(uids.map(uid => server.admin.put(`/api/users/${uid}`, { name: 'Ann' })))

  expect(answers.map(({ status, body }) => [status, Object.keys(body.errors)])).toEqual(uids.map(() => [422, ['uid']]))
})

test('a user is found by id, and by uid in any case', async () => {
  await using server = await startServer()
  const { body: ann } = await server.admin.post('/api/users', { uid: 'Ann@Example.com' })

  const found = await Promise.all(
    [ann.id, `0${ann.id}`, 'ann@example.com', 'ANN%40EXAMPLE.COM'].map(ref => server.admin.get(`/api/users/${ref}`)),
  )

  expect(found.map(({ status, body }) => [status, body.id])).toEqual(found.map(() => [200, ann.id]))
})

test('a user that is not there cannot be read, changed or given a token', async () => {
  await using server = await startServer()
  const { request } = server.admin
  const calls = (ref: string) => [
    request('GET', `/api/users/${ref}`),
    request('PATCH', `/api/users/${ref}`, { body: { name: 'X' } }),
    request('POST', `/api/users/${ref}/trash`),
    request('POST', `/api/users/${ref}/restore`),
    request('DELETE', `/api/users/${ref}`),
    request('POST', `/api/users/${ref}/tokens`),
    request('DELETE', `/api/users/${ref}/tokens`),
  ]
  const refs = [
    '999',
    '99999999999999999999',
    'nobody',
    '-2',
    '%00',
    '%ff',
    "'",
    '%25',
    'a%2Fb',
    'null',
    'x'.repeat(5000),
  ]

  const answers = await Promise.all(refs.flatMap(calls))

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
})

test('the system user and the deleted user can be read but not changed', async () => {
  await using server = await startServer()

  const system = await server.admin.get('/api/users/0')
  const deleted = await server.admin.get('/api/users/-1')
  const refused = await Promise.all(
    ['0', '-1'].flatMap(id => [
      server.admin.patch(`/api/users/${id}`, { name: 'X' }),
      server.admin.post(`/api/users/${id}/trash`),
      server.admin.post(`/api/users/${id}/restore`),
      server.admin.delete(`/api/users/${id}`),
      server.admin.post(`/api/users/${id}/tokens`),
      server.admin.delete(`/api/users/${id}/tokens`),
    ]),
  )

  expect(system.body).toEqual({ id: '0', name: 'System', is_trashed: false })
  expect(deleted.body).toEqual({ id: '-1', name: 'Deleted user', is_trashed: false })
  expect(refused.map(({ status }) => status)).toEqual(Array(12).fill(403))
})

test('managing users takes an API key', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const calls = (client: { request: typeof ann.request }) =>
    Promise.all([
      client.request('POST', '/api/users', { body: { uid: 'eve' } }),
      client.request('PATCH', `/api/users/${ann.id}`, { body: { name: 'X' } }),
      client.request('PUT', '/api/users/eve', { body: {} }),
      client.request('POST', `/api/users/${ann.id}/trash`),
      client.request('POST', `/api/users/${ann.id}/restore`),
      client.request('DELETE', `/api/users/${ann.id}`),
    ])

  const withToken = await calls(ann)
  const withNothing = await calls(server)

  expect(withToken.map(({ status }) => status)).toEqual(Array(6).fill(403))
  expect(withNothing.map(({ status }) => status)).toEqual(Array(6).fill(401))
  expect((await server.admin.get('/api/user')).status).toBe(403)
  expect((await server.admin.get('/api/users?count_only=true')).body).toEqual({ count: '1' })
})

test('a username is shown to API keys and to its user, and to nobody else', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await server.admin.patch(`/api/users/${ann.id}`, { username: 'ann.lee' })

  const own = (await ann.get('/api/user')).body
  const byId = (await ann.get(`/api/users/${ann.id}`)).body
  const forKey = (await server.admin.get(`/api/users/${ann.id}`)).body
  const forBen = (await ben.get(`/api/users/${ann.id}`)).body
  const listed = (await ben.get('/api/users?q=Ann')).body

  expect([own.username, byId.username, forKey.username]).toEqual(['ann.lee', 'ann.lee', 'ann.lee'])
  expect(forBen).not.toHaveProperty('username')
  expect(listed.data).toHaveLength(1)
  expect(listed.data[0]).not.toHaveProperty('username')
})

test('people find others by what they may read of them, API keys by mail addresses and usernames as well', async () => {
  await using server = await startServer()
  const ben = await server.person('ben')
  await server.admin.post('/api/users', {
    uid: 'crew-7',
    name: 'Ann Lee',
    given_name: 'Anna',
    middle_name: 'Maria',
    family_name: 'Leeson',
    nickname: 'Zoe',
    email: 'secret.mail@example.com',
    username: 'hidden.login',
  })
  const words = ['ann', 'lee', 'crew', 'maria', 'leeson', 'zoe', 'secret', 'example', 'hidden', 'h', 'login']

  const find = async (caller: { get: typeof ben.get }, q: string) =>
    (await caller.get(`/api/users?q=${q}`)).body.count as string
  const byBen = await Promise.all(words.map(q => find(ben, q)))
  const byKey = await Promise.all(words.map(q => find(server.admin, q)))

  expect(words.filter((_, at) => byBen[at] === '1')).toEqual(['ann', 'lee', 'crew', 'maria', 'leeson', 'zoe'])
  expect(words.filter((_, at) => byKey[at] === '1')).toEqual(words)
})

test('people are active once they have asked for something, and away before', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await ann.get('/api/user')

  const { body: active } = await server.admin.get(`/api/users/${ann.id}`)
  const { body: away } = await server.admin.get(`/api/users/${ben.id}`)

  expect([active.presence, away.presence]).toEqual(['active', 'away'])
})

test('numbers are written as numbers for whoever asks for that, and lists whole', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await server.admin.patch(`/api/users/${ann.id}`, { picture: (await upload(server.admin, dot)).body.id })

  const numbers = await ann.get('/api/users', { prefer: 'scalars=number' })
  const kit = await ann.get('/api/users', { 'x-weavy-source': 'kit@1' })

  expect(numbers.body).toMatchObject({ start: 0, end: 1, count: 1, data: [{ id: Number(ann.id) }] })
  expect(numbers.body.data[0]).not.toHaveProperty('picture')
  expect(kit.body).toMatchObject({ count: 1, data: [{ id: Number(ann.id), picture: { name: 'dot.svg' } }] })
})

test('a trashed user is hidden, its tokens are rejected at once, and restoring brings it back', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await ann.get('/api/user')

  const trashed = await server.admin.post(`/api/users/${ann.id}/trash`)
  const again = await server.admin.post(`/api/users/${ann.uid}/trash`)
  const whileTrashed = {
    own: (await ann.get('/api/user')).status,
    forBen: (await ben.get(`/api/users/${ann.id}?trashed=true`)).status,
    plain: (await server.admin.get(`/api/users/${ann.id}`)).status,
    asked: (await server.admin.get(`/api/users/${ann.id}?trashed=true`)).body.is_trashed,
    patched: (await server.admin.patch(`/api/users/${ann.id}`, { name: 'X' })).status,
    upserted: (await server.admin.put(`/api/users/${ann.uid}`, { nickname: 'Annie' })).body,
    token: (await server.admin.post(`/api/users/${ann.id}/tokens`)).status,
    listed: (await server.admin.get('/api/users?count_only=true')).body.count,
  }
  const restored = await server.admin.post(`/api/users/${ann.id}/restore`)

  expect([trashed.status, again.status, restored.status]).toEqual([204, 204, 204])
  expect(whileTrashed).toMatchObject({
    own: 401,
    forBen: 404,
    plain: 404,
    asked: true,
    patched: 404,
    upserted: { nickname: 'Annie', is_trashed: true },
    token: 404,
    listed: '1',
  })
  expect((await ann.get('/api/user')).body).toMatchObject({ id: ann.id, nickname: 'Annie', is_trashed: false })
})

test('of a deleted user nothing is left but what it wrote, by the deleted user', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people as [(typeof people)[0], (typeof people)[0]]
  const { body: pair } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })
  await ann.post(`/api/apps/${app}/messages`, { text: 'I was here' })
  await ann.post(`/api/apps/${pair.id}/messages`, { text: 'so was I' })

  const deleted = await server.admin.delete(`/api/users/${ann.id}`)

  expect(deleted.status).toBe(204)
  expect((await ann.get('/api/user')).status).toBe(401)
  expect((await server.admin.get(`/api/users/${ann.id}?trashed=null`)).status).toBe(404)
  expect((await server.admin.delete(`/api/users/${ann.id}`)).status).toBe(404)
  const { body: messages } = await ben.get(`/api/apps/${app}/messages?out=details`)
  expect(messages.data).toMatchObject([{ text: 'I was here', created_by: { id: '-1', name: 'Deleted user' } }])
  const { body: members } = await ben.get(`/api/apps/${app}/members`)
  expect(members.data.map((member: { id: string }) => member.id)).toEqual([ben.id])
  expect((await ben.get(`/api/apps/${pair.id}`)).body).toMatchObject({ name: 'Deleted user' })
  expect((await server.admin.post('/api/users', { uid: ann.uid })).status).toBe(201)
})

test('a new name shows at once in what was written before', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people as [(typeof people)[0], (typeof people)[0]]
  await ann.post(`/api/apps/${app}/messages`, { text: 'hello' })
  const author = async () => (await ben.get(`/api/apps/${app}/messages?out=details`)).body.data[0].created_by
  const before = await author()

  await server.admin.patch(`/api/users/${ann.id}`, { name: 'Anna' })

  expect(before.name).toBe('Ann')
  expect((await author()).name).toBe('Anna')
})

test('changing the same users from many sides at once never fails', async () => {
  await using server = await startServer()
  for (const name of ['acme', 'globex', 'hooli']) await server.admin.post('/api/directories', { name })
  const people = await Promise.all(['a', 'b', 'c', 'd'].map(uid => server.admin.post('/api/users', { uid })))
  const ids = people.map(({ body }) => body.id)

  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) => {
      const directory = ['acme', 'globex', 'hooli'][i % 3]
      const shuffled = i % 2 === 0 ? ids : ids.toReversed()
      if (i % 5 === 0) return server.admin.put(`/api/directories/${directory}/members`, shuffled)
      if (i % 5 === 1) return server.admin.delete(`/api/directories/${directory}/members`, shuffled)
      if (i % 5 === 2) return server.admin.patch(`/api/users/${ids[i % 4]}`, { directories: ['hooli', 'acme'] })
      if (i % 5 === 3) return server.admin.patch(`/api/users/${ids[i % 4]}`, { directories: ['globex'], name: `${i}` })
      return server.admin.put(`/api/users/${['d', 'a', 'e'][i % 3]}`, { directories: ['acme', 'hooli', 'globex'] })
    }),
  )

  expect(answers.filter(({ status }) => status >= 300)).toEqual([])
})

/** `tags.0` is about `tags`. */
const toField = (path: string) => path.split('.')[0]
