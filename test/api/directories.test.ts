import { expect, test } from 'vitest'
import { Directory } from '../../src/resources/directories/schema.ts'
import { insertAgent } from '../support/agent.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

interface List {
  body: { data?: { name: string }[] }
}

const names = ({ body }: List) => (body.data ?? []).map(({ name }) => name)

test('a directory is made once for each name, whatever its case', async () => {
  await using server = await startServer()

  const made = await server.admin.post('/api/directories', { name: 'Acme' })
  const again = await server.admin.post('/api/directories', { name: 'ACME' })

  expect(made).toMatchObject({ status: 201, body: { id: '1', name: 'Acme', members: { count: '0' } } })
  expect(again).toMatchObject({ status: 409, body: { code: 'directory-exists' } })
  expect((await server.admin.get('/api/directories?count_only=true')).body).toEqual({ count: '1' })
  Directory.strict().parse(made.body)
})

test('an Idempotency-Key keeps a repeated request from failing', async () => {
  await using server = await startServer()
  const idempotencyKey = { 'idempotency-key': 'k1' }

  const first = await server.admin.post('/api/directories', { name: 'acme' }, idempotencyKey)
  const again = await server.admin.post('/api/directories', { name: 'acme' }, idempotencyKey)

  expect([first.status, again.status]).toEqual([201, 201])
  expect(again.body).toEqual(first.body)
})

test('a name that is none is refused', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'acme' })
  const odd = [undefined, null, '', '123', 'two words', 'tab\there', '\u0001', 'x'.repeat(257), 7, ['a'], {}]

  const made = await Promise.all(odd.map(name => server.admin.post('/api/directories', { name })))
  const renamed = await Promise.all(odd.map(name => server.admin.patch('/api/directories/acme', { name })))

  for (const { status, body } of [...made, ...renamed])
    expect([status, Object.keys(body.errors)]).toEqual([422, ['name']])
})

test('a directory is found by id, and by name in any case; what is not there is 404', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'Acme' })
  const ann = await server.person('Ann')
  const refs = ['2', '99999999999999999999', 'nowhere', '-1', '%00', "'"]
  const { request } = server.admin

  const found = await Promise.all(['1', '01', 'acme', 'ACME'].map(ref => request('GET', `/api/directories/${ref}`)))
  const missing = await Promise.all(
    refs.flatMap(ref => [
      request('GET', `/api/directories/${ref}`),
      request('GET', `/api/directories/${ref}/members`),
      request('PATCH', `/api/directories/${ref}`, { body: { name: 'x' } }),
      request('DELETE', `/api/directories/${ref}`),
      request('PUT', `/api/directories/${ref}/members/${ann.id}`),
      request('DELETE', `/api/directories/${ref}/members/${ann.id}`),
      request('PUT', `/api/directories/${ref}/members`, { body: [ann.id] }),
      request('DELETE', `/api/directories/${ref}/members`, { body: [ann.id] }),
    ]),
  )

  expect(found.map(({ body }) => body.name)).toEqual(['Acme', 'Acme', 'Acme', 'Acme'])
  expect(new Set(missing.map(({ status }) => status))).toEqual(new Set([404]))
})

test('a directory may be renamed, also in case alone, but not to a name that is taken', async () => {
  await using server = await startServer()
  for (const name of ['acme', 'globex']) await server.admin.post('/api/directories', { name })

  const cased = await server.admin.patch('/api/directories/acme', { name: 'ACME' })
  const taken = await server.admin.patch('/api/directories/acme', { name: 'Globex' })
  const renamed = await server.admin.patch('/api/directories/acme', { name: 'hooli' })

  expect(cased).toMatchObject({ status: 200, body: { id: '1', name: 'ACME' } })
  expect(taken).toMatchObject({ status: 422, body: { errors: { name: ['is taken by another directory'] } } })
  expect(renamed.body.name).toBe('hooli')
  expect((await server.admin.get('/api/directories/acme')).status).toBe(404)
  expect(names(await server.admin.get('/api/directories?q=hoo'))).toEqual(['hooli'])
})

test('API keys see all directories, users those that they are in', async () => {
  await using server = await startServer()
  for (const name of ['hooli', 'Acme-North', 'globex']) await server.admin.post('/api/directories', { name })
  const ann = await server.person('Ann')
  await server.admin.put(`/api/directories/globex/members/${ann.id}`)

  expect((await server.admin.get('/api/directories?take=2')).body).toEqual({
    data: [
      { id: '2', name: 'Acme-North' },
      { id: '3', name: 'globex' },
    ],
    start: '0',
    end: '2',
    count: '3',
  })
  expect(names(await server.admin.get('/api/directories?order_by=id+desc'))).toEqual(['globex', 'Acme-North', 'hooli'])
  expect(names(await server.admin.get('/api/directories?q=north'))).toEqual(['Acme-North'])
  expect((await server.admin.get('/api/directories?trashed=true')).body.count).toBe('0')
  expect(names(await ann.get('/api/directories'))).toEqual(['globex'])
  expect((await ann.get('/api/directories/globex')).body).toMatchObject({ name: 'globex', members: { count: '1' } })
  expect((await ann.get('/api/directories/hooli')).status).toBe(404)
  expect((await ann.get('/api/directories/hooli/members')).status).toBe(404)
})

test('managing directories takes an API key', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'acme' })
  const ann = await server.person('Ann')
  await server.admin.put(`/api/directories/acme/members/${ann.id}`)
  const calls = (client: { request: typeof ann.request }) =>
    Promise.all([
      client.request('POST', '/api/directories', { body: { name: 'x' } }),
      client.request('PATCH', '/api/directories/acme', { body: { name: 'x' } }),
      client.request('DELETE', '/api/directories/acme'),
      client.request('PUT', `/api/directories/acme/members/${ann.id}`),
      client.request('DELETE', `/api/directories/acme/members/${ann.id}`),
      client.request('PUT', '/api/directories/acme/members', { body: [ann.id] }),
      client.request('DELETE', '/api/directories/acme/members', { body: [ann.id] }),
    ])

  const withToken = await calls(ann)
  const withNothing = await calls(server)

  expect(withToken.map(({ status }) => status)).toEqual(Array(7).fill(403))
  expect(withNothing.map(({ status }) => status)).toEqual(Array(7).fill(401))
})

test('people join and leave a directory, by id or uid, as often as one likes', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'acme' })
  const [ann, ben, eve] = await Promise.all(['Ann', 'Ben', 'Eve'].map(server.person))
  const members = async () => names(await server.admin.get('/api/directories/acme/members'))
  const { request } = server.admin

  const added = [
    await request('PUT', `/api/directories/acme/members/${ann!.uid.toUpperCase()}`),
    await request('PUT', `/api/directories/acme/members/${ann!.id}`),
    await request('PUT', '/api/directories/1/members', { body: [Number(ben!.id), eve!.uid, eve!.id, ann!.id] }),
    await request('PUT', '/api/directories/1/members', { body: [] }),
  ]
  const joined = await members()
  const removed = [
    await request('DELETE', `/api/directories/acme/members/${ann!.id}`),
    await request('DELETE', `/api/directories/acme/members/${ann!.id}`),
    await request('DELETE', '/api/directories/acme/members', { body: [ben!.uid, ann!.id] }),
  ]

  expect([...added, ...removed].map(({ status }) => status)).toEqual(Array(7).fill(204))
  expect(joined).toEqual(['Ann', 'Ben', 'Eve'])
  expect(await members()).toEqual(['Eve'])
})

test('one unknown user among many keeps all of them out', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'acme' })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await server.admin.put(`/api/directories/acme/members/${ben.id}`)

  const added = await server.admin.put('/api/directories/acme/members', [ann.id, 'nobody', '999'])
  const removed = await server.admin.delete('/api/directories/acme/members', [ben.id, 'nobody'])
  const one = await server.admin.put('/api/directories/acme/members/nobody')

  expect(added).toMatchObject({ status: 404, body: { unknown: ['nobody', '999'] } })
  expect([removed.status, one.status]).toEqual([404, 404])
  expect(names(await server.admin.get('/api/directories/acme/members'))).toEqual(['Ben'])
})

test('the special users join nothing, and a list that is none is refused', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'acme' })
  const ann = await server.person('Ann')
  const put = (body: unknown) => server.admin.put('/api/directories/acme/members', body)

  const special = [await put([ann.id, 0]), await put(['-1']), await server.admin.put('/api/directories/acme/members/0')]
  const odd = await Promise.all(
    [{}, '"ann"', null, [null], [[ann.id]], [''], [-5], [1.5], Array.from({ length: 501 }, () => ann.id)].map(put),
  )

  expect(special.map(({ status }) => status)).toEqual([403, 403, 403])
  expect(odd.map(({ status, body }) => [status, Object.keys(body?.errors ?? {}).length])).toEqual(
    odd.map(() => [422, 1]),
  )
  expect((await server.admin.get('/api/directories/acme')).body.members.count).toBe('0')
})

test('the members of a directory are listed like users', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  for (const name of ['acme', 'globex']) await server.admin.post('/api/directories', { name })
  await server.admin.post('/api/users', { uid: 'a', name: 'Ann', tags: ['x'], directories: ['acme', 'globex'] })
  await server.admin.post('/api/users', { uid: 'b', name: 'Ben Annable', directories: ['acme'] })
  await server.admin.post('/api/users', { uid: 'c', name: 'Cid', directories: ['acme'] })
  await server.admin.post('/api/users', { uid: 'd', name: 'Dan' })
  await server.admin.post('/api/users/c/trash')
  await insertAgent(database.url, 'helper', ['acme'])
  const list = async (query: string) => names(await server.admin.get(`/api/directories/acme/members?${query}`))

  expect(await list('')).toEqual(['Ann', 'Ben Annable', 'helper'])
  expect(await list('q=ann')).toEqual(['Ann', 'Ben Annable'])
  expect(await list('q=ann&autocomplete=false')).toEqual(['Ann'])
  expect(await list('agent=true')).toEqual(['helper'])
  expect(await list('agent=false&order_by=id+desc')).toEqual(['Ben Annable', 'Ann'])
  expect(await list('directory=globex')).toEqual(['Ann'])
  expect(await list('tag=x')).toEqual(['Ann'])
  expect(await list('trashed=true')).toEqual(['Cid'])
  expect(await list('take=1&skip=1')).toEqual(['Ben Annable'])
  expect((await server.admin.get('/api/directories/acme/members?count_only=true')).body).toEqual({ count: '3' })
})

test('a directory shows its first 25 members by name, and how many there are', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'acme' })
  const uids = Array.from({ length: 30 }, (_, i) => `m${String(i).padStart(2, '0')}`)
  await Promise.all(uids.map(uid => server.admin.post('/api/users', { uid, directories: ['acme'] })))

  const { members } = (await server.admin.get('/api/directories/acme')).body

  expect(names({ body: members })).toEqual(uids.slice(0, 25))
  expect(members).toMatchObject({ start: '0', end: '25', count: '30' })
})

test('a new name and new members show at once with the people themselves', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'acme' })
  const ann = await server.person('Ann')
  const own = async () =>
    ((await ann.get('/api/user')).body.directories ?? []).map(({ name }: { name: string }) => name)

  const before = await own()
  await server.admin.put(`/api/directories/acme/members/${ann.id}`)
  const joined = await own()
  await server.admin.patch('/api/directories/acme', { name: 'hooli' })
  const renamed = await own()
  await server.admin.delete('/api/directories/hooli')
  const gone = await own()

  expect([before, joined, renamed, gone]).toEqual([[], ['acme'], ['hooli'], []])
})

test('deleting a directory closes the apps that were open to it, and opens nothing', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'acme' })
  const [inside, outside] = [await server.person('Ann'), await server.person('Ben')]
  await server.admin.put(`/api/directories/acme/members/${inside.id}`)
  const { body: app } = await server.admin.post('/api/apps', { type: 'chat', access: 'write', directory: 'acme' })
  const sees = async () => [
    (await inside.get(`/api/apps/${app.id}`)).status,
    (await outside.get(`/api/apps/${app.id}`)).status,
  ]
  const before = await sees()

  const deleted = await server.admin.delete('/api/directories/ACME')

  expect(deleted.status).toBe(204)
  expect(before).toEqual([200, 404])
  expect(await sees()).toEqual([404, 404])
  const { body: closed } = await server.admin.get(`/api/apps/${app.id}`)
  expect(closed.access).toBe('none')
  expect(closed).not.toHaveProperty('directory_id')
  expect((await server.admin.get('/api/directories/acme')).status).toBe(404)
  expect((await server.admin.delete('/api/directories/acme')).status).toBe(404)
})

test('an app made while its directory is being deleted is refused or closed, never open to all', async () => {
  await using server = await startServer()
  const outside = await server.person('Ben')
  const make = (directory: string) => server.admin.post('/api/apps', { type: 'chat', access: 'write', directory })

  for (const name of Array.from({ length: 20 }, (_, i) => `acme-${i}`)) {
    await server.admin.post('/api/directories', { name })
    // However the race goes, there is one to close.
    await make(name)
    const making = Array.from({ length: 12 }, () => make(name))
    const deleted = await server.admin.delete(`/api/directories/${name}`)
    const made = await Promise.all(making)

    expect(deleted.status).toBe(204)
    expect(made.filter(({ status }) => status !== 201 && status !== 422)).toEqual([])
  }

  const { body: apps } = await server.admin.get('/api/apps?take=100')
  expect(apps.data.filter(({ access }: { access: string }) => access !== 'none')).toEqual([])
  expect((await outside.get(`/api/apps/${apps.data[0].id}`)).status).toBe(404)
})

test('a directory with hundreds of apps is deleted in one go', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'acme' })
  const make = () => server.admin.post('/api/apps', { type: 'chat', access: 'read', directory: 'acme' })
  await Promise.all(Array.from({ length: 450 }, make))

  const deleted = await server.admin.delete('/api/directories/acme')

  expect(deleted.status).toBe(204)
  const { body: apps } = await server.admin.get('/api/apps?order_by=id+desc&take=100')
  expect(apps.count).toBe('450')
  expect(new Set(apps.data.map(({ access }: { access: string }) => access))).toEqual(new Set(['none']))
})
