import { expect, test } from 'vitest'
import { startServer, type Server } from '../support/server.ts'

const signIn = (server: Server, username: unknown, password: unknown) =>
  server.request('POST', '/api/auth', { body: { username, password } })

test('a username in any case and its password bring the user, and no token', async () => {
  await using server = await startServer()
  const { body: ann } = await server.admin.post('/api/users', {
    uid: 'ann',
    username: 'Ann.Lee',
    password: 'correct horse',
  })

  const { status, body } = await signIn(server, 'ann.LEE', 'correct horse')

  expect(status).toBe(200)
  expect(body).toMatchObject({ id: ann.id, uid: 'ann', username: 'Ann.Lee', is_trashed: false })
  expect(body).not.toHaveProperty('access_token')
  expect(body).not.toHaveProperty('password')
})

test('whatever does not match is the same 404', async () => {
  await using server = await startServer()
  const password = 'correct horse'
  await server.admin.post('/api/users', { uid: 'ann', username: 'ann', password })
  await server.admin.post('/api/users', { uid: 'bare', username: 'bare' })
  await server.admin.post('/api/users', { uid: 'gone', username: 'gone', password })
  await server.admin.post('/api/users/gone/trash')

  const answers = [
    await signIn(server, 'ann', 'wrong horse'),
    await signIn(server, 'ann', `${password} `),
    await signIn(server, 'nobody', password),
    await signIn(server, 'bare', password),
    await signIn(server, 'gone', password),
    await signIn(server, '', password),
  ]

  for (const { status, body } of answers) {
    expect(status).toBe(404)
    expect({ ...body, request_id: '' }).toEqual({ ...answers[0]!.body, request_id: '' })
  }
})

test('a new password replaces the old one, and null removes it', async () => {
  await using server = await startServer()
  await server.admin.post('/api/users', { uid: 'ann', username: 'ann', password: 'first password' })

  await server.admin.patch('/api/users/ann', { password: 'second password' })
  const old = await signIn(server, 'ann', 'first password')
  const fresh = await signIn(server, 'ann', 'second password')
  await server.admin.patch('/api/users/ann', { name: 'Ann' })
  const kept = await signIn(server, 'ann', 'second password')
  await server.admin.patch('/api/users/ann', { password: null })
  const removed = await signIn(server, 'ann', 'second password')

  expect([old, fresh, kept, removed].map(({ status }) => status)).toEqual([404, 200, 200, 404])
})

test('what is missing or no text is refused by name', async () => {
  await using server = await startServer()

  const nothing = await server.request('POST', '/api/auth')
  const odd = await signIn(server, 7, ['correct horse'])
  const long = await signIn(server, 'x'.repeat(257), 'x'.repeat(257))

  for (const { status, body } of [nothing, odd, long]) {
    expect([status, Object.keys(body.errors)]).toEqual([422, ['username', 'password']])
  }
})

test('after ten failures within a minute an address is refused, whatever the name', async () => {
  await using server = await startServer()
  await server.admin.post('/api/users', { uid: 'ann', username: 'ann', password: 'correct horse' })
  const right = []
  for (let i = 0; i < 12; i++) right.push((await signIn(server, 'ann', 'correct horse')).status)

  const failures = []
  for (let i = 0; i < 10; i++) failures.push((await signIn(server, `name-${i}`, 'wrong horse')).status)
  const refused = await signIn(server, 'ann', 'correct horse')

  expect(new Set(right)).toEqual(new Set([200]))
  expect(new Set(failures)).toEqual(new Set([404]))
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60)
})

test('after ten failures within a minute a name is refused, whatever the address', async () => {
  await using server = await startServer({ TRUST_PROXY: 'true' })
  await server.admin.post('/api/users', { uid: 'ann', username: 'ann', password: 'correct horse' })
  const from = (address: string, username: string, password: string) =>
    server.request('POST', '/api/auth', { body: { username, password }, headers: { 'x-forwarded-for': address } })

  const guesses = []
  for (let i = 0; i < 10; i++) guesses.push((await from(`10.0.0.${i}`, 'ANN', 'wrong horse')).status)
  const refused = await from('10.0.1.1', 'ann', 'correct horse')
  const other = await from('10.0.1.1', 'ben', 'wrong horse')

  expect(new Set(guesses)).toEqual(new Set([404]))
  expect([refused.status, other.status]).toEqual([429, 404])
})

test('guessing many at once gets no further than one after the other', async () => {
  await using server = await startServer()

  const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => signIn(server, `name-${i}`, 'wrong horse')))

  const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
  expect([count(404), count(429)]).toEqual([10, 30])
})

test('failures count for the account, whichever spelling of its name finds it', async () => {
  await using server = await startServer({ TRUST_PROXY: 'true' })
  await server.admin.post('/api/users', { uid: 'ivan', username: 'iivan', password: 'correct horse' })
  const attempt = (username: string, i: number) =>
    server.request('POST', '/api/auth', {
      body: { username, password: 'wrong' },
      headers: { 'x-forwarded-for': `198.51.100.${i}` },
    })

  for (let i = 0; i < 10; i++) expect((await attempt(i % 2 === 0 ? 'iivan' : '\u0130ivan', i)).status).toBe(404)

  expect((await attempt('\u0130ivan', 10)).status).toBe(429)
})
