import { generateKeyPairSync } from 'node:crypto'
import { base64url, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startHost, type Host } from '../support/host.ts'
import { answer } from '../support/receiver.ts'
import { startServer, type Server } from '../support/server.ts'

const self = (server: Server, token: string) => server.request('GET', '/api/user', { token })
const nowSeconds = () => Math.floor(Date.now() / 1000)

/** Events of the log about users. */
const userEvents = (database: Awaited<ReturnType<typeof createDatabase>>) =>
  database.sql<{ type: string }[]>`select type from events where entity_type = 'user' and app_id = 0 order by rev`

test('a token of the host acts as the user that it names, who is made once and kept up to date', async () => {
  await using host = await startHost()
  await using database = await createDatabase()
  await using server = await startServer({ ...host.settings, DATABASE_URL: database.url })

  const first = await self(server, await host.token('auth0|ann', { name: 'Ann', email: 'ann@host.example' }))
  const again = await self(server, await host.token('auth0|ann', { name: 'Ann', email: 'ann@host.example', jti: '2' }))
  const before = await userEvents(database)
  const changed = await self(server, await host.token('auth0|ann', { name: 'Ann Lee', email: 'lee@host.example' }))

  expect(first).toMatchObject({ status: 200, body: { uid: 'auth0|ann', name: 'Ann', email: 'ann@host.example' } })
  expect(again.body.id).toBe(first.body.id)
  expect(before.map(({ type }) => type)).toEqual(['user_created'])
  expect(changed.body).toMatchObject({ id: first.body.id, name: 'Ann Lee', email: 'lee@host.example' })
  expect((await userEvents(database)).map(({ type }) => type)).toEqual(['user_created', 'user_updated'])
})

test('an older token does not undo what a newer one has changed', async () => {
  await using host = await startHost()
  await using server = await startServer(host.settings)
  const at = nowSeconds()

  await self(server, await host.token('ann', { name: 'Ann', iat: at - 60 }))
  const newer = await self(server, await host.token('ann', { name: 'Ann Lee', iat: at }))
  const older = await self(server, await host.token('ann', { name: 'Ann', iat: at - 30 }))

  expect([newer.body.name, older.body.name]).toEqual(['Ann Lee', 'Ann Lee'])
})

test('a hundred first requests on three nodes make one user, with one event', async () => {
  await using host = await startHost()
  await using database = await createDatabase()
  const settings = {
    ...host.settings,
    AUTH_JWKS_SECONDS: '3600',
    AUTH_DIRECTORIES_CLAIM: 'org',
    DATABASE_URL: database.url,
  }
  await using one = await startServer(settings)
  await using two = await startServer(settings)
  await using three = await startServer(settings)
  const tokens = await Promise.all(
    Array.from({ length: 100 }, (_, i) => host.token('ann', { name: 'Ann', org: 'acme', jti: String(i) })),
  )

  const answers = await Promise.all(tokens.map((token, i) => self([one, two, three][i % 3]!, token)))

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  expect(answers[0]!.body.directories).toMatchObject([{ name: 'acme' }])
  expect((await userEvents(database)).map(({ type }) => type)).toEqual(['user_created'])
  // Whoever asks first learns the keys for all.
  expect(host.receiver.requests).toHaveLength(1)
})

test('claims of other names, and within others, are read where the settings say so', async () => {
  await using host = await startHost()
  await using server = await startServer({
    ...host.settings,
    AUTH_UID_CLAIM: 'https://host.example/uid',
    AUTH_NAME_CLAIM: 'user_metadata.full_name',
    AUTH_DIRECTORIES_CLAIM: 'orgs',
  })
  const claims = { 'https://host.example/uid': 'ann', user_metadata: { full_name: 'Ann' } }

  const { body } = await self(server, await host.token('7', { ...claims, orgs: ['acme', 'zoo'] }))
  const moved = await self(server, await host.token('7', { ...claims, orgs: ['ZOO'] }))
  const silent = await self(server, await host.token('7', claims))

  expect(body).toMatchObject({ uid: 'ann', name: 'Ann', directories: [{ name: 'acme' }, { name: 'zoo' }] })
  expect(moved.body.directories).toMatchObject([{ name: 'zoo' }])
  expect(silent.body.directories).toMatchObject([{ name: 'zoo' }])
})

test('a picture is fetched when its address is another one, and what cannot be had is left out', async () => {
  await using host = await startHost()
  await using database = await createDatabase()
  await using pictures = await startHost()
  await using server = await startServer({
    ...host.settings,
    DATABASE_URL: database.url,
    FETCH_ALLOW: '127.0.0.0/8',
  })
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><rect width="4" height="4"/></svg>'
  pictures.receiver.behaviour = answer(200, svg, { 'content-type': 'image/svg+xml' })
  const at = (path: string) => `http://127.0.0.1:${pictures.receiver.port}/${path}.svg`

  const first = await self(server, await host.token('ann', { name: 'Ann', picture: at('one') }))
  const same = await self(server, await host.token('ann', { name: 'Ann', picture: at('one'), jti: '2' }))
  const moved = await self(server, await host.token('ann', { name: 'Ann Lee', picture: at('two') }))
  pictures.receiver.behaviour = answer(404)
  const lost = await self(server, await host.token('ann', { name: 'x'.repeat(300), picture: at('three') }))

  expect(first.body.picture).toMatchObject({ name: 'one.svg' })
  expect(same.body.picture.id).toBe(first.body.picture.id)
  expect(moved.body).toMatchObject({ name: 'Ann Lee', picture: { name: 'two.svg' } })
  expect(lost).toMatchObject({ status: 200, body: { name: 'Ann Lee', picture: { name: 'two.svg' } } })
  expect(pictures.receiver.requests.map(({ path }) => path)).toEqual(['/one.svg', '/two.svg', '/three.svg'])
  expect((await userEvents(database)).map(({ type }) => type)).toEqual(['user_created', 'user_updated'])
})

test.each(['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'PS512', 'EdDSA'])(
  'a key for %s verifies tokens of it',
  async alg => {
    await using host = await startHost()
    await host.addKey('second', alg)
    await using server = await startServer(host.settings)

    expect((await self(server, await host.token('ann'))).status).toBe(200)
  },
)

test('a token that is not right is 401, and the code and the sentence say what is wrong with it', async () => {
  await using host = await startHost()
  await host.addKey('rsa', 'RS256', { isPublished: false })
  await host.addKey('old', 'ES256', { isPublished: false })
  await using server = await startServer(host.settings)
  await server.admin.post('/api/agents', { uid: 'helper', name: 'Helper', provider: 'builtin', model: 'echo' })
  const first = { kid: 'first' }
  const now = nowSeconds()
  const [header, payload, signature] = (await host.token('ann', {}, first)).split('.') as [string, string, string]
  const none = `${base64url.encode('{"alg":"none","kid":"first"}')}.${payload}.`
  const { jwk } = await host.addKey('public', 'RS256', { isPublished: false })
  const confused = await new SignJWT({ iss: host.issuer, aud: host.audience, sub: 'ann' })
    .setProtectedHeader({ alg: 'HS256', kid: 'first' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(JSON.stringify(jwk)))
  const cases: Record<string, [string, string]> = {
    'no algorithm': ['token-algorithm', none],
    'a secret where there is a public key': ['token-algorithm', confused],
    'a key of another kind under a known kid': [
      'token-algorithm',
      await host.token('ann', {}, { kid: 'rsa', header: { kid: 'first' } }),
    ],
    'no key of the set': ['token-key-unknown', await host.token('ann', {}, { kid: 'old' })],
    'a forged signature': ['token-signature', await host.token('ann', {}, { ...first, isForged: true })],
    'another payload': [
      'token-signature',
      `${header}.${base64url.encode(JSON.stringify({ iss: host.issuer, aud: host.audience, sub: 'eve', exp: now + 60 }))}.${signature}`,
    ],
    'no signature': ['token-malformed', `${header}.${payload}`],
    'a header that is none': ['token-malformed', `eyJhbGciOiJFUzI1NiIsIm.${payload}.${signature}`],
    'a time that is over': ['token-expired', await host.token('ann', { exp: now - 61 }, first)],
    'a time to come': ['token-not-yet-valid', await host.token('ann', { nbf: now + 90 }, first)],
    'issued in the future': ['token-not-yet-valid', await host.token('ann', { iat: now + 90 }, first)],
    'another issuer': ['token-issuer', await host.token('ann', { iss: 'https://other.example/' }, first)],
    'another audience': ['token-audience', await host.token('ann', { aud: ['other'] }, first)],
    'no audience': ['token-audience', await host.token('ann', { aud: undefined }, first)],
    'no end': ['token-claims', await host.token('ann', { exp: undefined }, first)],
    'an end that is no number': ['token-claims', await host.token('ann', { exp: 'soon' }, first)],
    'a life that is too long': ['token-lifetime', await host.token('ann', { exp: now + 25 * 3600 }, first)],
    'too long a life without a beginning': [
      'token-lifetime',
      await host.token('ann', { iat: undefined, exp: now + 25 * 3600 }, first),
    ],
    'no uid': ['token-uid', await host.token('ann', { sub: undefined }, first)],
    'a uid of digits': ['token-uid', await host.token('7', {}, first)],
    'a uid with a space': ['token-uid', await host.token('ann lee', {}, first)],
    'a uid that is hidden': ['token-uid', await host.token('ann\u200b', {}, first)],
    'a uid that is another user in mentions': ['token-uid', await host.token('u999', {}, first)],
    'a uid that is no text': ['token-uid', await host.token('ann', { sub: { id: 'ann' } }, first)],
    'the uid of an agent': ['user-agent', await host.token('helper', {}, first)],
  }

  for (const [what, [code, token]] of Object.entries(cases)) {
    const { status, body, headers } = await self(server, token)
    expect([what, status, body.code]).toEqual([what, 401, code])
    expect(headers.get('www-authenticate')).toBe('Bearer realm="api", error="invalid_token"')
    // What the token says, and what keys there are, is not repeated.
    for (const secret of [signature, payload, 'eve', 'other.example'])
      expect(JSON.stringify(body)).not.toContain(secret)
  }
  expect((await self(server, await host.token('7', {}, first))).body.detail).toBe(
    'The claim sub of the token is no uid: must contain at least one character that is not a digit.',
  )
  expect((await self(server, await host.token('ann', {}, first))).status).toBe(200)
})

test('clocks may differ by a minute', async () => {
  await using host = await startHost()
  await using server = await startServer(host.settings)
  const now = nowSeconds()

  const late = await self(server, await host.token('ann', { iat: now - 600, exp: now - 30 }))
  const early = await self(server, await host.token('ann', { iat: now + 30, nbf: now + 30 }))

  expect([late.status, early.status]).toEqual([200, 200])
})

test('uids are compared as everywhere: in NFC, and by their folds', async () => {
  await using host = await startHost()
  await using server = await startServer(host.settings)

  const composed = await self(server, await host.token('Zo\u00eb'))
  const apart = await self(server, await host.token('zoe\u0308'))

  expect(apart.body).toMatchObject({ id: composed.body.id, uid: 'Zo\u00eb' })
})

test('without AUTH_CREATE, unknown users are refused and known ones are not', async () => {
  await using host = await startHost()
  await using server = await startServer({ ...host.settings, AUTH_CREATE: 'false', AUTH_DIRECTORIES_CLAIM: 'org' })
  await server.admin.post('/api/users', { uid: 'ann' })
  await server.admin.post('/api/directories', { name: 'acme' })

  const known = await self(server, await host.token('ann', { org: ['acme', 'unknown'] }))
  const unknown = await self(server, await host.token('ben'))

  expect(known).toMatchObject({ status: 200, body: { directories: [{ name: 'acme' }] } })
  expect(unknown).toMatchObject({ status: 401, body: { code: 'user-unknown' } })
})

test('a secret that is shared with the host verifies HMAC and nothing else', async () => {
  const secret = 'a-secret-that-both-know-and-nobody-else'
  await using host = await startHost()
  await using server = await startServer({ AUTH_SECRET: secret, AUTH_CREATE: 'true', AUTH_ISSUER: host.issuer })
  const sign = (alg: string, key: string) =>
    new SignJWT({ sub: 'ann', iss: host.issuer })
      .setProtectedHeader({ alg })
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(key))

  expect((await self(server, await sign('HS256', secret))).status).toBe(200)
  expect((await self(server, await sign('HS512', secret))).status).toBe(200)
  expect((await self(server, await sign('HS256', `${secret}!`))).body.code).toBe('token-signature')
  expect((await self(server, await host.token('ann'))).body.code).toBe('token-algorithm')
})

test('a public key verifies what its private one has signed, whatever kid that says, and is no secret', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const der = publicKey.export({ type: 'spki', format: 'der' })
  await using server = await startServer({ AUTH_PUBLIC_KEY: pem.replaceAll('\n', String.raw`\n`), AUTH_CREATE: 'true' })
  await using other = await startServer({ AUTH_PUBLIC_KEY: der.toString('base64'), AUTH_CREATE: 'true' })
  const sign = (header: { alg: string; kid?: string }, key: Parameters<SignJWT['sign']>[0]) =>
    new SignJWT({ sub: 'ann' }).setProtectedHeader(header).setExpirationTime('1h').sign(key)

  for (const node of [server, other])
    expect((await self(node, await sign({ alg: 'RS256' }, privateKey))).status).toBe(200)
  expect((await self(server, await sign({ alg: 'PS256', kid: 'any' }, privateKey))).status).toBe(200)
  for (const secret of [pem, pem.trim()]) {
    const token = await sign({ alg: 'HS256' }, new TextEncoder().encode(secret))
    expect((await self(server, token)).body.code).toBe('token-algorithm')
  }
})

test('without any of the settings, a token of a host is refused with a sentence that names them', async () => {
  await using host = await startHost()
  await using server = await startServer()

  const { status, body } = await self(server, await host.token('ann'))

  expect([status, body.code]).toEqual([401, 'unauthorized'])
  expect(body.detail).toContain('AUTH_JWKS_URL')
})

test('a key that is new is fetched, one that is taken out ends its tokens on all nodes', async () => {
  await using host = await startHost()
  await using database = await createDatabase()
  await using one = await startServer({ ...host.settings, DATABASE_URL: database.url })
  await using two = await startServer({ ...host.settings, DATABASE_URL: database.url })
  const old = await host.token('ann')
  const before = [await self(one, old), await self(two, old)]

  await host.addKey('second')
  const renewed = await host.token('ann')
  await eventually(async () => {
    for (const node of [one, two]) expect((await self(node, renewed)).status).toBe(200)
  })
  const during = [await self(one, old), await self(two, old)]
  host.publish('second')

  expect([...before, ...during].map(({ status }) => status)).toEqual([200, 200, 200, 200])
  await eventually(async () => {
    for (const node of [one, two]) expect((await self(node, old)).body.code).toBe('token-key-unknown')
  })
  for (const node of [one, two]) expect((await self(node, renewed)).status).toBe(200)
})

test('unknown keys make all nodes together ask the host once in its time, and not more often', async () => {
  await using host = await startHost()
  await using database = await createDatabase()
  const settings = { ...host.settings, AUTH_JWKS_SECONDS: '3600', DATABASE_URL: database.url }
  await using one = await startServer(settings)
  await using two = await startServer(settings)
  await self(one, await host.token('ann'))
  await host.addKey('new', 'ES256', { isPublished: false })

  const tokens = await Promise.all(Array.from({ length: 50 }, (_, i) => host.token(`user-${i}`)))
  const answers = await Promise.all(tokens.map((token, i) => self(i % 2 === 0 ? one : two, token)))

  expect(new Set(answers.map(({ body }) => body.code))).toEqual(new Set(['token-key-unknown']))
  expect(host.receiver.requests).toHaveLength(1)
})

test('while the host is away the last keys stay, also for a node that starts then', async () => {
  await using host = await startHost()
  await using database = await createDatabase()
  const settings = { ...host.settings, DATABASE_URL: database.url }
  await using one = await startServer(settings)
  await self(one, await host.token('ann'))

  host.receiver.behaviour = answer(500, 'gone')
  await host.receiver.take(3)
  await using two = await startServer(settings)

  for (const node of [one, two]) expect((await self(node, await host.token('ben'))).status).toBe(200)
  host.receiver.behaviour = answer(200, '{"keys":"none"}')
  await host.receiver.take(host.receiver.requests.length + 2)
  expect((await self(two, await host.token('eve'))).status).toBe(200)
})

test('before the host has answered once, its tokens are 503, and own tokens as ever', async () => {
  await using host = await startHost()
  const { behaviour } = host.receiver
  host.receiver.behaviour = answer(502)
  await using server = await startServer(host.settings)
  const ann = await server.person('Ann')

  const early = await self(server, await host.token('ben'))
  host.receiver.behaviour = behaviour

  expect(early).toMatchObject({ status: 503, body: { code: 'host-keys-unavailable' } })
  expect(early.headers.get('retry-after')).toBe('5')
  expect((await ann.get('/api/user')).status).toBe(200)
  await eventually(async () => expect((await self(server, await host.token('ben'))).status).toBe(200))
})

test('a node that waits for the answer that another one asked for takes it', async () => {
  await using host = await startHost()
  await using database = await createDatabase()
  const settings = { ...host.settings, AUTH_JWKS_SECONDS: '3600', DATABASE_URL: database.url }
  await using one = await startServer(settings)
  await using two = await startServer(settings)
  const { behaviour } = host.receiver
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  host.receiver.behaviour = (request, response) => void released.then(() => behaviour(request, response))
  const asking = self(one, await host.token('ann'))
  await host.receiver.take(1)

  const waiting = [self(two, await host.token('ann')), self(two, await host.token('ben'))]
  release()

  expect((await Promise.all([asking, ...waiting])).map(({ status }) => status)).toEqual([200, 200, 200])
  expect(host.receiver.requests).toHaveLength(1)
})

const revocations: [string, (server: Server, uid: string) => Promise<unknown>, string][] = [
  ['trashing the user', (server, uid) => server.admin.post(`/api/users/${uid}/trash`), 'user-trashed'],
  ['revoking tokens', (server, uid) => server.admin.delete(`/api/users/${uid}/tokens`), 'token-revoked'],
]

test.each(revocations)('%s ends tokens of the host within two seconds on all nodes', async (_, revoke, code) => {
  await using host = await startHost()
  await using database = await createDatabase()
  await using one = await startServer({ ...host.settings, DATABASE_URL: database.url })
  await using two = await startServer({ ...host.settings, DATABASE_URL: database.url })
  const [anns, bens] = [await host.token('ann'), await host.token('ben')]
  const without = await host.token('ann', { iat: undefined })
  for (const node of [one, two]) for (const token of [anns, bens, without]) await self(node, token)

  await revoke(one, 'ann')

  const [here, never] = [await self(one, anns), await self(one, without)]
  expect([here.body.code, never.body.code]).toEqual([code, code])
  await eventually(async () => expect((await self(two, anns)).body.code).toBe(code), { timeoutMs: 2000 })
  for (const node of [one, two]) expect((await self(node, bens)).status).toBe(200)
  if (code === 'user-trashed') return
  const later = await host.token('ann', { iat: nowSeconds() + 1 })
  expect((await self(two, later)).status).toBe(200)
})

test('an exchange gives an access token that ends no later than the token of the host', async () => {
  await using host = await startHost()
  await using server = await startServer(host.settings)
  const exchange = (token: string, body?: object) =>
    server.request('POST', '/api/auth/exchange', { token, ...(body && { body }) })
  const long = await host.token('ann')
  const short = await host.token('ann', { exp: nowSeconds() + 100 })

  const [usual, asked, capped] = [
    await exchange(long, { expires_in: 86_400 }),
    await exchange(long, { expires_in: 60 }),
    await exchange(short),
  ]

  expect(asked).toMatchObject({ status: 200, body: { expires_in: '60' } })
  expect(Number(usual.body.expires_in)).toBeLessThanOrEqual(3600)
  expect(Number(usual.body.expires_in)).toBeGreaterThan(3500)
  expect(Number(capped.body.expires_in)).toBeLessThanOrEqual(100)
  expect((await self(server, asked.body.access_token)).body.uid).toBe('ann')
  const again = await exchange(asked.body.access_token, { expires_in: 3600 })
  expect(Number(again.body.expires_in)).toBeLessThanOrEqual(60)
  expect((await exchange(server.key)).status).toBe(403)
  await server.admin.delete('/api/users/ann/tokens')
  expect((await self(server, usual.body.access_token)).status).toBe(401)
})

test('after ten wrong signatures an address is refused for a while, and those that are known are not', async () => {
  await using host = await startHost()
  await using server = await startServer({ ...host.settings, TRUST_PROXY: 'true' })
  const from = (address: string, token: string) =>
    server.request('GET', '/api/user', { token, headers: { 'x-forwarded-for': address } })
  const known = await host.token('ann')
  await from('192.0.2.1', known)
  const forge = () => host.token('ann', {}, { isForged: true })

  const statuses: number[] = []
  for (let i = 0; i < 11; i++) statuses.push((await from('192.0.2.1', await forge())).status)
  const [honest, other] = [await host.token('ben'), await host.token('eve')]

  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429])
  expect(await from('192.0.2.1', honest)).toMatchObject({ status: 429, body: { code: 'too-many-attempts' } })
  expect((await from('192.0.2.1', known)).status).toBe(200)
  expect((await from('192.0.2.2', other)).status).toBe(200)
})

test('a token of the host may be long, and calls what access tokens may call', async () => {
  await using host: Host = await startHost()
  await using server = await startServer(host.settings)
  const roles = Array.from({ length: 400 }, (_, i) => `role-${i}`)

  const { status } = await self(server, await host.token('ann', { roles }))
  const asKey = await server.request('GET', '/api/keys', { token: await host.token('ann') })

  expect(status).toBe(200)
  expect([asKey.status, asKey.body.code]).toEqual([403, 'key-required'])
})
