import { WebSocket } from 'ws'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startPair } from '../support/pair.ts'
import { startServer, type Server } from '../support/server.ts'

/** What a browser sends with requests of the page itself that change something. */
const ownPage = (server: Server) => ({ origin: server.url, 'x-parley-admin': '1' })

const signIn = (server: Server, api_key: string, headers: Record<string, string> = ownPage(server)) =>
  server.request('POST', '/admin/session', { body: { api_key }, headers })

/** The Cookie header of a session that was just begun. */
async function cookieOf(server: Server, key = server.key): Promise<{ cookie: string }> {
  const { status, headers } = await signIn(server, key)
  expect(status).toBe(204)
  return { cookie: headers.get('set-cookie')!.split(';')[0]! }
}

const get = (server: Server, path: string, headers: Record<string, string> = {}) =>
  server.request('GET', path, { headers })

test('an API key signs in, and the page may do what the key may', async () => {
  await using server = await startServer()

  const { status, headers } = await signIn(server, server.key)
  const cookie = headers.get('set-cookie')!

  expect(status).toBe(204)
  expect(cookie).toMatch(/^parley=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
  const session = { cookie: cookie.split(';')[0]! }
  expect((await get(server, '/admin/session', session)).body).toMatchObject({ key: { name: 'API_KEY' } })
  const made = await server.request('POST', '/admin/api/users', {
    body: { uid: 'ann' },
    headers: { ...session, ...ownPage(server) },
  })
  expect(made.status).toBe(201)
  expect((await get(server, '/admin/api/users?q=ann', session)).body).toMatchObject({ count: '1' })
})

test('where the browser came over TLS, the cookie is for this host and for TLS alone', async () => {
  await using server = await startServer({ TRUST_PROXY: 'true' })
  const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'chat.example' }
  const page = { ...proxied, origin: 'https://chat.example', 'x-parley-admin': '1' }

  const { headers } = await signIn(server, server.key, page)

  const cookie = headers.get('set-cookie')!
  expect(cookie).toMatch(/^__Host-parley=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
  const [value] = cookie.split(';')
  expect((await get(server, '/admin/session', { ...proxied, cookie: value! })).status).toBe(200)
  const renamed = value!.replace('__Host-', '')
  expect((await get(server, '/admin/session', { ...proxied, cookie: renamed })).status).toBe(401)
})

test('the address of PUBLIC_URL is the page’s own', async () => {
  await using server = await startServer({ PUBLIC_URL: 'https://chat.example/parley' })

  const asPublic = await fetch(`${server.url}/admin/session`, {
    method: 'POST',
    body: JSON.stringify({ api_key: server.key }),
    headers: {
      origin: 'https://chat.example',
      'sec-fetch-site': 'same-origin',
      'x-parley-admin': '1',
      'content-type': 'application/json',
    },
  })

  expect(asPublic.status).toBe(204)
  expect(asPublic.headers.get('set-cookie')).toMatch(/^__Host-parley=.*; Secure$/)
})

test('the cookie counts under /admin alone', async () => {
  await using server = await startServer()
  const session = await cookieOf(server)

  expect((await get(server, '/admin/api/users', session)).status).toBe(200)
  expect((await get(server, '/api/users', session)).status).toBe(401)
  expect((await get(server, '/%61dmin/session', session)).status).toBe(404)
  expect((await get(server, '/admin/%61pi/users', session)).status).toBe(404)
  expect((await get(server, '/metrics', session)).body).not.toContain('API_KEY')
})

test.each(['/api/realtime', '/hubs/rtm'])('the cookie opens no WebSocket at %s', async path => {
  await using server = await startServer()
  const session = await cookieOf(server)
  const ann = await server.person('Ann')
  const outcome = (headers: Record<string, string>) =>
    new Promise<string>(resolve => {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}${path}`, { headers })
      socket.on('open', () => socket.send('{"protocol":"json","version":1}\u001e'))
      socket.on('message', data => {
        resolve(String(data).replaceAll(/[0-9a-f-]{36}|\d+/g, ''))
        socket.close()
      })
      socket.on('unexpected-response', (_request, { statusCode }) => resolve(`${statusCode}`))
      socket.on('close', code => resolve(`closed ${code}`))
      socket.on('error', () => {})
    })

  const [withCookie, withNothing] = [await outcome(session), await outcome({})]

  expect(withCookie).toBe(withNothing)
  expect(await outcome({ authorization: `Bearer ${ann.token}` })).not.toBe(withNothing)
})

test('a bearer token does not count where the cookie does', async () => {
  await using server = await startServer()

  const answer = await server.admin.get('/admin/api/users')

  expect(answer.status).toBe(401)
})

test('under the page’s address everything asks for a session, also what needs no credential elsewhere', async () => {
  await using server = await startServer()

  expect((await get(server, '/api/openapi.json')).status).toBe(200)
  expect((await get(server, '/admin/api/openapi.json')).status).toBe(401)
  expect((await get(server, '/admin/api/openapi.json', await cookieOf(server))).status).toBe(200)
})

test('pages of other origins get nothing: no session, no preflight, and no header that lets them read', async () => {
  await using server = await startServer()
  const session = await cookieOf(server)
  const other = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  const sameSite = { origin: server.url.replace(/\d+$/, '1'), 'sec-fetch-site': 'same-site' }

  const read = await get(server, '/admin/api/users', { ...session, ...other })
  const neighbour = await get(server, '/admin/api/users', { ...session, ...sameSite })
  const pictured = await get(server, '/admin/api/users', { ...session, 'sec-fetch-site': 'cross-site' })
  const preflight = await server.request('OPTIONS', '/admin/api/users', { headers: other })

  expect([read.status, neighbour.status, pictured.status, preflight.status]).toEqual([401, 401, 401, 403])
  for (const { headers } of [read, neighbour, preflight])
    expect([...headers.keys()].filter(name => name.startsWith('access-control'))).toEqual([])
})

test('nothing is changed for a page of another origin, for a form, or without the mark of the page', async () => {
  await using server = await startServer()
  const session = await cookieOf(server)
  const change = async (headers: Record<string, string>, body: unknown = { uid: 'ann' }) =>
    (await server.request('POST', '/admin/api/users', { body, headers: { ...session, ...headers } })).status
  const form = new FormData()
  form.append('uid', 'ann')

  expect(await change({ origin: 'https://evil.example', 'x-parley-admin': '1' })).toBe(403)
  expect(await change({ origin: server.url })).toBe(403)
  expect(await change({ 'x-parley-admin': '1' })).toBe(403)
  expect(await change({ origin: 'null', 'x-parley-admin': '1' })).toBe(403)
  const urlencoded = { 'content-type': 'application/x-www-form-urlencoded' }
  expect(await change({ ...urlencoded, origin: 'https://evil.example' }, 'uid=ann')).toBe(403)
  expect(await change({ ...urlencoded, ...ownPage(server) }, 'uid=ann')).toBe(415)
  const upload = { method: 'POST', path: '/admin/api/blobs' }
  const sent = await server.request(upload.method, upload.path, {
    body: form,
    headers: { ...session, ...ownPage(server) },
  })
  expect(sent.status).toBe(415)
  expect((await server.admin.get('/api/users?count_only=true')).body).toEqual({ count: '0' })
  expect(await change({ 'sec-fetch-site': 'same-origin', 'x-parley-admin': '1' })).toBe(201)
})

test('every answer under /admin says what the page may do', async () => {
  await using server = await startServer()

  for (const path of ['/admin/session', '/admin/nothing', '/admin/api/users']) {
    const { headers } = await get(server, path)
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; .*trusted-types/)
    expect(headers.get('content-security-policy')).not.toContain('unsafe')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(headers.get('cache-control')).toBe('no-store')
  }
  expect((await get(server, '/api/users')).headers.get('content-security-policy')).toBeNull()
})

test('after ten wrong keys within a minute an address has to wait, with the right one too', async () => {
  await using server = await startServer()
  const { body } = await server.admin.post('/api/users', { uid: 'ann' })
  const { body: token } = await server.admin.post(`/api/users/${body.id}/tokens`)

  const guesses = [token.access_token, '', ...Array.from({ length: 8 }, (_, i) => `wys_guess-number-${i}-that-is-long`)]
  for (const guess of guesses) expect((await signIn(server, guess)).status).toBe(401)
  const eleventh = await signIn(server, server.key)

  expect(eleventh.status).toBe(429)
  expect(Number(eleventh.headers.get('retry-after'))).toBeGreaterThan(0)
})

test('whoever signs out has no session any more', async () => {
  await using server = await startServer()
  const session = await cookieOf(server)

  const out = await server.request('DELETE', '/admin/session', { headers: { ...session, ...ownPage(server) } })

  expect(out.status).toBe(204)
  expect(out.headers.get('set-cookie')).toMatch(/^parley=; .*Max-Age=0$/)
  expect((await get(server, '/admin/session', session)).status).toBe(401)
})

test('a second sign-in ends the first session of the browser on every node, one with a wrong key does not', async () => {
  await using pair = await startPair({ hasRedis: false })
  const { here: one, there: other } = pair
  const first = await cookieOf(one)
  const elsewhere = await cookieOf(one)
  expect((await get(other, '/admin/session', first)).status).toBe(200)

  const wrong = await signIn(one, 'wys_a-key-that-is-none-at-all-but-long', { ...ownPage(one), ...first })
  expect([wrong.status, (await get(one, '/admin/session', first)).status]).toEqual([401, 200])
  const again = await signIn(one, one.key, { ...ownPage(one), ...first })
  const second = { cookie: again.headers.get('set-cookie')!.split(';')[0]! }

  expect((await get(one, '/admin/session', first)).status).toBe(401)
  expect((await get(one, '/admin/api/users', first)).status).toBe(401)
  await eventually(async () => expect((await get(other, '/admin/session', first)).status).toBe(401))
  expect((await get(one, '/admin/session', second)).status).toBe(200)
  expect((await get(one, '/admin/session', elsewhere)).status).toBe(200)
  expect((await get(one, '/admin/api/admin/sign-ins', second)).body).toMatchObject({ count: '2' })
})

test('the sessions of the page are listed, and ended one by one', async () => {
  await using server = await startServer()
  const [first, second] = [await cookieOf(server), await cookieOf(server)]

  const { body } = await get(server, '/admin/api/admin/sign-ins', second)
  const other = body.data.find(({ is_current }: { is_current: boolean }) => !is_current)
  const ended = await server.request('DELETE', `/admin/api/admin/sign-ins/${other.id}`, {
    headers: { ...second, ...ownPage(server) },
  })

  expect(body).toMatchObject({
    count: '2',
    data: [{ is_current: true, key: { name: 'API_KEY' }, ip: '127.0.0.1' }, {}],
  })
  expect(ended.status).toBe(204)
  expect((await get(server, '/admin/session', first)).status).toBe(401)
  expect((await get(server, '/admin/session', second)).status).toBe(200)
})

test.each([false, true])(
  'sessions are known to all nodes, and end on all with their key, with Redis: %s',
  async hasRedis => {
    await using pair = await startPair({ hasRedis })
    const { here, there } = pair
    const { body: made } = await here.admin.post('/api/keys', { name: 'CRM' })
    const [session, signedOut] = [await cookieOf(here, made.key), await cookieOf(here, made.key)]
    for (const node of [here, there]) {
      expect((await get(node, '/admin/api/users', session)).status).toBe(200)
      expect((await get(node, '/admin/api/users', signedOut)).status).toBe(200)
    }

    await here.request('DELETE', '/admin/session', { headers: { ...signedOut, ...ownPage(here) } })
    await eventually(async () => expect((await get(there, '/admin/session', signedOut)).status).toBe(401), {
      timeoutMs: 2_000,
    })
    expect((await get(there, '/admin/session', session)).status).toBe(200)
    await here.admin.delete(`/api/keys/${made.id}`)

    expect((await get(here, '/admin/session', session)).status).toBe(401)
    await eventually(async () => expect((await get(there, '/admin/session', session)).status).toBe(401), {
      timeoutMs: 2_000,
    })
  },
)

test('a session that is not used ends after half an hour, and any after eight', async () => {
  await using pair = await startPair({ hasRedis: false })
  const session = await cookieOf(pair.here)
  const old = await cookieOf(pair.here)

  // Of a node that was not asked yet: it knows what the database knows.
  await pair.sql`update admin_sessions set used_at = now() - interval '31 minutes' where id = 1`
  await pair.sql`update admin_sessions set expires_at = now() - interval '1 second' where id = 2`

  expect((await get(pair.there, '/admin/session', session)).status).toBe(401)
  expect((await get(pair.there, '/admin/session', old)).status).toBe(401)
})

test('with ADMIN=false there is nothing at /admin', async () => {
  await using server = await startServer({ ADMIN: 'false' })

  for (const path of ['/admin', '/admin/session', '/admin/api/users'])
    expect((await get(server, path)).status).toBe(404)
  expect((await signIn(server, server.key)).status).toBe(404)
})

test('with ADMIN_ALLOW it is open to these addresses alone', async () => {
  await using server = await startServer({ ADMIN_ALLOW: '10.0.0.0/8', TRUST_PROXY: 'true' })
  const from = (address: string) => ({ ...ownPage(server), 'x-forwarded-for': address })

  expect((await signIn(server, server.key, from('10.1.2.3'))).status).toBe(204)
  expect((await signIn(server, server.key, from('192.168.1.1'))).status).toBe(403)
  expect((await get(server, '/api/users')).status).toBe(401)
})

test('with ADMIN_PORT it is on that port, which has nothing else', async () => {
  await using server = await startServer({ ADMIN_PORT: '0', ADMIN_HOST: '127.0.0.1' })
  const adminOrigin = new URL(server.adminUrl!).origin
  const status = async (path: string, init?: RequestInit) => (await fetch(path, init)).status
  const signedIn = await fetch(`${adminOrigin}/admin/session`, {
    method: 'POST',
    body: JSON.stringify({ api_key: server.key }),
    headers: { origin: adminOrigin, 'x-parley-admin': '1', 'content-type': 'application/json' },
  })

  expect(adminOrigin).not.toBe(server.url)
  expect(signedIn.status).toBe(204)
  const headers = { cookie: signedIn.headers.get('set-cookie')!.split(';')[0]! }
  expect(await status(`${adminOrigin}/admin/api/users`, { headers })).toBe(200)
  expect(await status(`${adminOrigin}/api/users`, { headers: { authorization: `Bearer ${server.key}` } })).toBe(404)
  expect(await status(`${server.url}/admin/session`, { headers })).toBe(404)
  expect((await server.admin.get('/api/users')).status).toBe(200)
})
