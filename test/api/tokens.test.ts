import { expect, test } from 'vitest'
import { openSql } from '../../src/postgres/sql.ts'
import { insertAgent } from '../support/agent.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/server.ts'

test('every token is a new one, acts as its user, and leaves the earlier ones valid', async () => {
  await using server = await startServer()
  const { body: ann } = await server.admin.post('/api/users', { uid: 'ann' })

  const first = await server.admin.post('/api/users/ann/tokens')
  const second = await server.admin.post(`/api/users/${ann.id}/tokens`, { expires_in: 60 })

  expect(first).toMatchObject({ status: 200, body: { expires_in: '3600' } })
  expect(second).toMatchObject({ status: 200, body: { expires_in: '60' } })
  expect(first.body.access_token).toMatch(/^wyu_[\w-]{43}$/)
  expect(second.body.access_token).not.toBe(first.body.access_token)
  for (const { body } of [first, second]) {
    const own = await server.request('GET', '/api/user', { token: body.access_token })
    expect(own).toMatchObject({ status: 200, body: { id: ann.id } })
  }
})

test('a token lives as long as was asked for, given as a number or in digits', async () => {
  await using server = await startServer()
  await server.admin.post('/api/users', { uid: 'ann' })
  const lifetime = async (expires_in: unknown) =>
    (await server.admin.post('/api/users/ann/tokens', { expires_in })).body

  expect(await lifetime(1)).toMatchObject({ expires_in: '1' })
  expect(await lifetime('86400')).toMatchObject({ expires_in: '86400' })
  expect(await lifetime(31_536_000)).toMatchObject({ expires_in: '31536000' })
  for (const odd of [0, -1, 31_536_001, 1.5, '', 'soon', '1e3', null, true, '99999999999', [60]]) {
    expect([odd, (await lifetime(odd)).errors]).toEqual([odd, { expires_in: [expect.any(String)] }])
  }
})

test('a token ends when its time is over', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const { body: short } = await server.admin.post(`/api/users/${ann.id}/tokens`, { expires_in: 1 })
  const status = async () => (await server.request('GET', '/api/user', { token: short.access_token })).status

  const before = await status()

  expect(before).toBe(200)
  await eventually(async () => expect(await status()).toBe(401))
  expect((await ann.get('/api/user')).status).toBe(200)
})

test('revoking ends all tokens of a user at once, and nobody else’s', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: other } = await server.admin.post(`/api/users/${ann.id}/tokens`)
  const asOther = () => server.request('GET', '/api/user', { token: other.access_token })
  const before = [await ann.get('/api/user'), await asOther(), await ben.get('/api/user')]

  const revoked = await server.admin.delete(`/api/users/${ann.uid}/tokens`)

  expect(before.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(revoked.status).toBe(204)
  const after = [await ann.get('/api/user'), await asOther(), await ben.get('/api/user')]
  expect(after.map(({ status }) => status)).toEqual([401, 401, 200])
  expect(after[0]!.headers.get('www-authenticate')).toBe('Bearer realm="api", error="invalid_token"')
  expect((await server.admin.delete(`/api/users/${ann.uid}/tokens`)).status).toBe(204)
})

test('a token used while its user is being revoked never outlives the revocation', async () => {
  await using server = await startServer()
  const people = await Promise.all(Array.from({ length: 20 }, () => server.person('Ann')))

  await Promise.all(
    people.flatMap(ann => [
      ann.get('/api/user'),
      server.admin.delete(`/api/users/${ann.id}/tokens`),
      ann.get('/api/user'),
    ]),
  )

  const after = await Promise.all(people.map(ann => ann.get('/api/user')))
  expect(after.map(({ status }) => status)).toEqual(people.map(() => 401))
})

test('agents get tokens too; trashed and unknown users do not, and only API keys give them', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const agent = await insertAgent(database.url, 'helper')
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await server.admin.post(`/api/users/${ben.id}/trash`)

  const { body } = await server.admin.post('/api/users/helper/tokens')
  const asAgent = await server.request('GET', '/api/user', { token: body.access_token })

  expect(asAgent.body).toMatchObject({ id: agent, is_agent: true })
  expect((await server.admin.post(`/api/users/${ben.id}/tokens`)).status).toBe(404)
  expect((await server.admin.delete(`/api/users/${ben.id}/tokens`)).status).toBe(204)
  expect((await server.admin.post('/api/users/nobody/tokens')).status).toBe(404)
  expect((await ann.post(`/api/users/${ann.id}/tokens`)).status).toBe(403)
  expect((await ann.delete(`/api/users/${ann.id}/tokens`)).status).toBe(403)
})

test('a token that is revoked through one node ends on the others within two seconds', async () => {
  await using database = await createDatabase()
  await using one = await startServer({ DATABASE_URL: database.url })
  await using other = await startServer({ DATABASE_URL: database.url })
  const ann = await one.person('Ann')
  const onOther = async () => (await other.request('GET', '/api/user', { token: ann.token })).status
  const before = await onOther()

  await one.admin.delete(`/api/users/${ann.id}/tokens`)

  expect(before).toBe(200)
  await eventually(async () => expect(await onOther()).toBe(401), { timeoutMs: 2000 })
})

test('neither tokens nor passwords are stored', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await server.admin.post('/api/users', { uid: 'ann', password: 'correct horse' }, { 'idempotency-key': 'k' })
  const { body } = await server.admin.post('/api/users/ann/tokens', {}, { 'idempotency-key': 'k2' })

  const sql = openSql({ url: database.url, connections: 1, statementTimeoutMs: 10_000 })
  const tables = await sql<{ text: string }[]>`
    select coalesce(string_agg(t, ' '), '') as text from (
      select to_jsonb(tokens)::text || encode(hash, 'escape') from tokens union all
      select to_jsonb(users)::text from users union all
      select to_jsonb(events)::text from events union all
      select to_jsonb(idempotency)::text || encode(request, 'escape') from idempotency) as rows(t)`
  await sql.end()

  expect(tables[0]!.text).toContain('$argon2id$')
  expect(tables[0]!.text).not.toContain('correct horse')
  expect(tables[0]!.text).not.toContain(body.access_token.slice(4))
})
