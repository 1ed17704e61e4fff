import { expect, test } from 'vitest'
import type { Client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startPair } from '../support/pair.ts'
import { startServer, type Server } from '../support/server.ts'

/** Whether a key opens the door. */
const statusWith = async ({ request }: Pick<Server, 'request'>, token: string) =>
  (await request('GET', '/api/users', { token })).status

async function make({ post }: Pick<Client, 'post'>, settings: object = {}) {
  const { status, body } = await post('/api/keys', { name: 'CRM', ...settings })
  expect(status).toBe(201)
  return body
}

test('a key is shown once, when it is made, and works at once', async () => {
  await using server = await startServer()

  const made = await make(server.admin)

  expect(made.key).toMatch(/^wys_[\w-]{43}$/)
  expect(made).toMatchObject({ name: 'CRM', prefix: made.key.slice(0, 8) })
  expect(await statusWith(server, made.key)).toBe(200)
  const listed = await server.admin.get('/api/keys')
  expect(listed.body).toMatchObject({
    count: '2',
    data: [{ name: 'API_KEY', is_current: true }, { is_current: false }],
  })
  expect(JSON.stringify(listed.body)).not.toContain(made.key)
})

test('keys are for keys alone to manage', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  const answers = [
    await ann.get('/api/keys'),
    await ann.post('/api/keys', { name: 'Mine' }),
    await ann.delete('/api/keys/1'),
  ]

  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403])
})

test('a key that is made again under its Idempotency-Key is the same one, and is not shown again', async () => {
  await using server = await startServer()
  const idempotencyKey = { 'idempotency-key': 'one key, please' }

  const first = await server.admin.post('/api/keys', { name: 'CRM' }, idempotencyKey)
  const again = await server.admin.post('/api/keys', { name: 'CRM' }, idempotencyKey)

  expect(again.status).toBe(201)
  expect(again.body).toEqual({ ...first.body, key: undefined })
  expect((await server.admin.get('/api/keys?count_only=true')).body).toEqual({ count: '2' })
})

test('nothing in the database shows what a key is', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })

  const { body } = await server.admin.post('/api/keys', { name: 'CRM' }, { 'idempotency-key': 'once' })

  const [{ kept }] = await database.sql<[{ kept: string }]>`
    select string_agg(t.rows, '') as kept from (
      select (select string_agg(k::text, '') from api_keys k) union all
      select (select string_agg(i::text, '') from idempotency i) union all
      select (select string_agg(e::text, '') from events e)) as t(rows)`
  expect(kept).toContain(body.prefix)
  expect(kept).not.toContain(body.key.slice(8))
})

test('a key ends when its time is over, which can be put off', async () => {
  await using server = await startServer()
  const soon = await make(server.admin, { expires_in: 1 })
  const later = await make(server.admin, { expires_in: 1 })
  await statusWith(server, later.key)

  const moved = await server.admin.patch(`/api/keys/${later.id}`, { expires_at: '2126-01-01T00:00:00Z', name: 'Shop' })

  expect(moved.body).toMatchObject({ name: 'Shop', expires_at: '2126-01-01T00:00:00Z' })
  await eventually(async () => expect(await statusWith(server, soon.key)).toBe(401))
  expect(await statusWith(server, later.key)).toBe(200)
  expect((await server.admin.patch(`/api/keys/${later.id}`, { expires_at: null })).body.expires_at).toBeUndefined()
})

test('an end that is moved forward counts for a key that is in use', async () => {
  await using server = await startServer()
  const { id, key } = await make(server.admin)
  await statusWith(server, key)

  await server.admin.patch(`/api/keys/${id}`, { expires_at: new Date(Date.now() + 1000).toISOString() })

  await eventually(async () => expect(await statusWith(server, key)).toBe(401))
})

test('what is no name or no time to come is refused by its field', async () => {
  await using server = await startServer()
  const refusal = async (body: object) => Object.keys((await server.admin.post('/api/keys', body)).body.errors ?? {})

  expect(await refusal({})).toEqual(['name'])
  expect(await refusal({ name: ' ' })).toEqual(['name'])
  expect(await refusal({ name: 'a\nb' })).toEqual(['name'])
  expect(await refusal({ name: 'a', expires_at: '2020-01-01T00:00:00Z' })).toEqual(['expires_at'])
  expect(await refusal({ name: 'a', expires_at: 'soon' })).toEqual(['expires_at'])
  expect(await refusal({ name: 'a', expires_in: 0 })).toEqual(['expires_in'])
  expect(await refusal({ name: 'a', expires_in: 60, expires_at: '2126-01-01T00:00:00Z' })).toEqual(['expires_in'])
  expect((await server.admin.patch('/api/keys/999', { name: 'a' })).status).toBe(404)
})

test('a key that is revoked stays so, and is listed with the time', async () => {
  await using server = await startServer()
  const { id, key } = await make(server.admin)

  expect((await server.admin.delete(`/api/keys/${id}`)).status).toBe(204)

  expect(await statusWith(server, key)).toBe(401)
  expect((await server.admin.delete(`/api/keys/${id}`)).status).toBe(204)
  expect((await server.admin.patch(`/api/keys/${id}`, { name: 'x' })).body).toMatchObject({ code: 'key-is-revoked' })
  const revoked = (await server.admin.get('/api/keys?revoked=true')).body
  expect(revoked).toMatchObject({ count: '1', data: [{ id, revoked_at: expect.any(String) }] })
  expect((await server.admin.get('/api/keys?revoked=false&q=crm')).body.count).toBe('0')
})

test('the last valid key, and the one that asks, are not revoked by mistake', async () => {
  await using server = await startServer()
  const own = (await server.admin.get('/api/keys')).body.data[0].id

  const last = await server.admin.delete(`/api/keys/${own}?force=true`)
  const { key } = await make(server.admin)
  const mistaken = await server.admin.delete(`/api/keys/${own}`)
  const meant = await server.admin.delete(`/api/keys/${own}?force=true`)

  expect(last).toMatchObject({ status: 409, body: { code: 'last-key' } })
  expect(mistaken).toMatchObject({ status: 409, body: { code: 'own-key' } })
  expect(meant.status).toBe(204)
  expect(await statusWith(server, server.key)).toBe(401)
  expect(await statusWith(server, key)).toBe(200)
})

test('of two keys that revoke each other at once, one remains', async () => {
  await using server = await startServer()
  const other = await make(server.admin)
  const own = (await server.admin.get('/api/keys')).body.data[0].id

  const statuses = await Promise.all([
    server.request('DELETE', `/api/keys/${own}`, { token: other.key }),
    server.request('DELETE', `/api/keys/${other.id}`, { token: server.key }),
  ])

  // The one that came second is the last key, or has been revoked before it was heard.
  const [done, refused] = statuses.map(({ status }) => status).sort()
  expect([done, [401, 409].includes(refused!)]).toEqual([204, true])
  const valid = [await statusWith(server, server.key), await statusWith(server, other.key)]
  expect(valid.sort()).toEqual([200, 401])
})

test('when a key was used last is known soon after', async () => {
  await using server = await startServer()
  const { id, key } = await make(server.admin)
  expect((await server.admin.get(`/api/keys/${id}`)).body.last_used_at).toBeUndefined()

  await statusWith(server, key)

  await eventually(async () => {
    const { body } = await server.admin.get(`/api/keys/${id}`)
    expect(Math.abs(Date.parse(body.last_used_at) - Date.now())).toBeLessThan(10_000)
  })
})

test.each([false, true])('a key that one node made or revoked is so on all, with Redis: %s', async hasRedis => {
  await using pair = await startPair({ hasRedis })
  const { id, key } = await make(pair.here.admin)

  expect(await statusWith(pair.there, key)).toBe(200)
  await pair.here.admin.delete(`/api/keys/${id}`)

  expect(await statusWith(pair.here, key)).toBe(401)
  await eventually(async () => expect(await statusWith(pair.there, key)).toBe(401), { timeoutMs: 2_000 })
})
