import { expect, test } from 'vitest'
import { z } from 'zod'
import { SharedLog } from '../../src/log/shared-log.ts'
import { Credentials, hashOf } from '../../src/auth/credentials.ts'
import type { Auth } from '../../src/auth/authentication.ts'
import { reply, route, type Method } from '../../src/http/route.ts'
import { createDatabase } from '../support/database.ts'
import { startEdge } from '../support/edge.ts'
import { requestText, Wire } from '../support/wire.ts'

const whoami = (auth: Auth, path: string, method: Method = 'GET') =>
  route(`${method} ${path}`, {
    summary: `For ${auth}`,
    auth,
    ...(method !== 'GET' && { body: z.object({ text: z.string().optional() }) }),
    creates: method === 'POST',
    replies: { 200: z.object({}) },
    handle: ({ by, body, idempotencyKey }) =>
      reply(200, {
        kind: by.kind,
        user: by.user,
        text: (body as { text?: string } | undefined)?.text,
        key: idempotencyKey?.key.toString('hex'),
        request: idempotencyKey?.request.toString('hex'),
      }),
  })

const routes = [
  whoami('token or key', '/api/any'),
  whoami('token', '/api/token'),
  whoami('key', '/api/key'),
  whoami('none', '/api/none'),
  whoami('token or key', '/api/any', 'POST'),
  whoami('token or key', '/api/{other}', 'POST'),
  whoami('token or key', '/api/any', 'PUT'),
]

/** An edge on a database with a user, tokens and keys of each kind. */
async function startWithPeople(settings = {}) {
  const database = await createDatabase()
  const { sql } = database
  await sql`insert into users (id, display_name, created_at, trashed_at)
    values (7, 'Ann', now(), null), (8, 'Ben', now(), now()), (9, 'Eve', now(), null)`
  await sql`insert into tokens (hash, user_id, created_at, expires_at) values
    (${bytesOf('wyu_ann')}, 7, now(), now() + interval '1 hour'),
    (${bytesOf('wyu_ann_2')}, 7, now(), now() + interval '1 hour'),
    (${bytesOf('wyu_eve')}, 9, now(), now() + interval '1 hour'),
    (${bytesOf('wyu_old')}, 7, now(), now() - interval '1 second'),
    (${bytesOf('wyu_trashed')}, 8, now(), now() + interval '1 hour')`
  await sql`insert into api_keys (hash, name, created_at, expires_at, revoked_at) values
    (${bytesOf('wys_key')}, 'a', now(), null, null),
    (${bytesOf('wys_old')}, 'b', now(), now() - interval '1 second', null),
    (${bytesOf('wys_revoked')}, 'c', now(), null, now())`
  const credentials = new Credentials(sql, new SharedLog(sql), () => new Date())
  const edge = await startEdge(routes, { sql, credentials, settings })
  return {
    ...edge,
    as: (token: string) => ({ authorization: `Bearer ${token}` }),
    async [Symbol.asyncDispose]() {
      await edge[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

const bytesOf = (token: string) => Buffer.from(hashOf(token), 'base64')

test('a token acts as its user, a key as nobody in particular', async () => {
  await using edge = await startWithPeople()

  expect((await edge.get('/api/any', edge.as('wyu_ann'))).body).toEqual({ kind: 'user', user: '7' })
  expect((await edge.get('/api/any', edge.as('wys_key'))).body).toEqual({ kind: 'key', user: '0' })
})

test('a credential that was seen before is as good as new', async () => {
  await using edge = await startWithPeople()

  const statuses = []
  for (let i = 0; i < 3; i++) statuses.push((await edge.get('/api/token', edge.as('wyu_ann'))).status)

  expect(statuses).toEqual([200, 200, 200])
})

test.each([
  ['is missing', {}],
  ['is unknown', { authorization: 'Bearer wyu_nobody' }],
  ['has expired', { authorization: 'Bearer wyu_old' }],
  ['belongs to a trashed user', { authorization: 'Bearer wyu_trashed' }],
  ['is a key that has expired', { authorization: 'Bearer wys_old' }],
  ['is a key that was revoked', { authorization: 'Bearer wys_revoked' }],
  ['is of another scheme', { authorization: 'Basic d3l1X2Fubjo=' }],
  ['has no scheme', { authorization: 'wyu_ann' }],
  ['is empty', { authorization: 'Bearer ' }],
  ['has more than one word', { authorization: 'Bearer wyu_ann wys_key' }],
  ['is absurdly long', { authorization: `Bearer wyu_${'x'.repeat(1000)}` }],
])('a credential that %s is 401 and says what is asked for', async (_, headers: Record<string, string>) => {
  await using edge = await startWithPeople()

  for (const path of ['/api/any', '/api/token', '/api/key']) {
    const answer = await edge.get(path, headers)
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="api"/)
    expect(answer.body).toMatchObject({ title: 'Unauthorized', code: 'unauthorized' })
  }
})

test('credentials in the query, or in cookies, are none', async () => {
  await using edge = await startWithPeople()

  const inQuery = await edge.get('/api/any?access_token=wyu_ann&token=wyu_ann')
  const inCookie = await edge.get('/api/any', { cookie: 'token=wyu_ann; access_token=wyu_ann' })

  expect([inQuery.status, inCookie.status]).toEqual([401, 401])
})

test('a key on an operation of users is 403, and so is a token on one of keys', async () => {
  await using edge = await startWithPeople()

  const [key, token] = [
    await edge.get('/api/token', edge.as('wys_key')),
    await edge.get('/api/key', edge.as('wyu_ann')),
  ]

  expect([key.status, key.body.code]).toEqual([403, 'token-required'])
  expect([token.status, token.body.code]).toEqual([403, 'key-required'])
})

test('an operation without credentials does not look at the one it gets', async () => {
  await using edge = await startWithPeople()

  expect((await edge.get('/api/none', edge.as('wyu_nobody'))).body.kind).toBe('nobody')
})

test('a body that comes before its credential is known is not lost', async () => {
  await using edge = await startWithPeople()

  const first = await edge.put('/api/any', { text: 'hello' }, edge.as('wyu_ann'))
  const second = await edge.put('/api/any', { text: 'hello' }, edge.as('wyu_ann'))

  expect(first.body).toEqual({ kind: 'user', user: '7', text: 'hello' })
  expect(second.body).toEqual(first.body)
})

test('a stranger is refused without waiting for the rest of the body', async () => {
  await using edge = await startWithPeople()
  const wire = await Wire.open(edge.port)

  await wire.send(
    requestText('PUT', '/api/any', {
      Authorization: 'Bearer wyu_nobody',
      'Content-Type': 'application/json',
      'Content-Length': '1000000',
    }),
  )

  expect((await wire.answer()).status).toBe(401)
})

test('a stranger is a stranger, whatever else is wrong with the request', async () => {
  await using edge = await startWithPeople()
  const send = (token: string) => edge.put('/api/any', 'hello', { ...edge.as(token), 'content-type': 'text/plain' })

  expect((await send('wyu_nobody')).status).toBe(401)
  expect((await send('wyu_ann')).status).toBe(415)
  expect((await send('wyu_nobody')).status).toBe(401)
  expect((await send('wyu_ann')).status).toBe(415)
})

test('a user has a rate over all tokens, other users have theirs, and keys have none', async () => {
  await using edge = await startWithPeople({ ratePerMinute: 3 })
  for (let i = 0; i < 3; i++) await edge.get('/api/any', edge.as('wyu_ann'))

  const [over, otherToken, otherUser, key] = await Promise.all([
    edge.get('/api/any', edge.as('wyu_ann')),
    edge.get('/api/any', edge.as('wyu_ann_2')),
    edge.get('/api/any', edge.as('wyu_eve')),
    edge.get('/api/any', edge.as('wys_key')),
  ])

  expect([over.status, over.headers.get('retry-after')]).toEqual([429, '20'])
  expect([otherToken.status, otherUser.status, key.status]).toEqual([429, 200, 200])
})

test('every answer to a user tells what is left of the rate, and pages may read it', async () => {
  await using edge = await startWithPeople({ ratePerMinute: 3 })
  const ask = async (token: string) => {
    const { headers } = await edge.get('/api/any', { ...edge.as(token), origin: 'https://app.example' })
    return headers
  }

  const answers = [await ask('wyu_ann'), await ask('wyu_ann'), await ask('wyu_ann'), await ask('wyu_ann')]
  const key = await ask('wys_key')

  expect(answers.map(headers => headers.get('ratelimit'))).toEqual([
    '"default";r=2;t=20',
    '"default";r=1;t=40',
    '"default";r=0;t=60',
    '"default";r=0;t=60',
  ])
  expect(new Set(answers.map(headers => headers.get('ratelimit-policy')))).toEqual(new Set(['"default";q=3;w=60']))
  expect(answers[0]!.get('access-control-expose-headers')).toMatch(/RateLimit, RateLimit-Policy/)
  expect([key.get('ratelimit'), key.get('ratelimit-policy')]).toEqual([null, null])
})

test('a repeated request has the same idempotency key, and any other has another', async () => {
  await using edge = await startWithPeople()
  const send = async (path: string, body: object, token: string, key: string) =>
    (await edge.post(path, body, { ...edge.as(token), 'idempotency-key': key })).body as {
      key: string
      request: string
    }

  const first = await send('/api/any', { text: 'a' }, 'wyu_ann', 'k1')
  const again = await send('/api/any', { text: 'a' }, 'wyu_ann', 'k1')
  const otherKey = await send('/api/any', { text: 'a' }, 'wyu_ann', 'k2')
  const otherToken = await send('/api/any', { text: 'a' }, 'wyu_ann_2', 'k1')
  const otherCaller = await send('/api/any', { text: 'a' }, 'wys_key', 'k1')
  const otherBody = await send('/api/any', { text: 'b' }, 'wyu_ann', 'k1')
  const otherPath = await send('/api/other', { text: 'a' }, 'wyu_ann', 'k1')

  expect(first.key).toMatch(/^[0-9a-f]{64}$/)
  expect([again, otherToken]).toEqual([first, first])
  expect(new Set([first.key, otherKey.key, otherCaller.key]).size).toBe(3)
  expect([otherBody.key, otherPath.key]).toEqual([first.key, first.key])
  expect(new Set([first.request, otherBody.request, otherPath.request]).size).toBe(3)
})

test.each(['x'.repeat(256), 'a\tb'])('an idempotency key of %j is 422', async key => {
  await using edge = await startWithPeople()

  const { status, body } = await edge.post('/api/any', {}, { ...edge.as('wyu_ann'), 'idempotency-key': key })

  expect(status).toBe(422)
  expect(body.errors).toEqual({ 'Idempotency-Key': ['must have 1 to 255 printable characters'] })
})

test('an idempotency key matters only where something is created', async () => {
  await using edge = await startWithPeople()

  const { status, body } = await edge.put('/api/any', {}, { ...edge.as('wyu_ann'), 'idempotency-key': 'x'.repeat(256) })

  expect(status).toBe(200)
  expect(body).not.toHaveProperty('key')
})
