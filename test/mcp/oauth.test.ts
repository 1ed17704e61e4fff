import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callTool, connectClient } from '../support/mcp.ts'
import {
  callback,
  codeOf,
  connectByConsent,
  decide,
  personWithPassword,
  postForm,
  postJson,
  register,
} from '../support/oauth.ts'
import { startHost } from '../support/host.ts'
import { closedWith } from '../support/realtime.ts'
import { startServer, type Server } from '../support/server.ts'

let server: Server
let ann: Awaited<ReturnType<typeof personWithPassword>>
beforeAll(async () => {
  server = await startServer()
  ann = await personWithPassword(server, 'ann')
})
afterAll(() => server[Symbol.asyncDispose]())

const statusWith = async (token: string | undefined, path = '/mcp') => {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const accept = { accept: 'application/json, text/event-stream' }
  const asked = path === '/mcp' ? (['POST', { body }] as const) : (['GET', {}] as const)
  return (await server.request(asked[0], path, { token: token!, headers: accept, ...asked[1] })).status
}

/** Tokens of a client made by hand, which Ann has allowed. */
async function allowed() {
  const client = await register(server)
  const code = codeOf(await decide(client.page(), ann))
  const { body } = await client.exchange(code)
  const refresh = (refresh_token: string, changes = {}) =>
    postForm(server, '/oauth/token', {
      ...{ grant_type: 'refresh_token', refresh_token, client_id: client.client_id },
      ...changes,
    })
  return { client, code, tokens: body, refresh }
}

describe.each(['auto', 'legacy'] as const)('the official library (%s)', mode => {
  test('finds its way from nothing but the address to tools, refreshes its token, and gives it back', async () => {
    const { keeper, answer, client } = await connectByConsent(server, ann, mode)
    await using _ = client

    expect(answer.searchParams.get('state')).toBe('a state')
    expect(answer.searchParams.get('iss')).toBe(server.url)
    expect((await client.listTools()).tools.length).toBeGreaterThan(10)
    expect((await callTool(client, 'list_people', { q: 'ann' })).people[0].id).toBe(Number(ann.id))

    const before = keeper.kept!
    keeper.kept = { ...before, access_token: 'wyu_not-any-more' }
    await client.listTools()
    expect(keeper.kept.access_token).not.toBe(before.access_token)
    expect(keeper.kept.refresh_token).not.toBe(before.refresh_token)

    const { access_token, refresh_token } = keeper.kept
    await postForm(server, '/oauth/revoke', { token: refresh_token!, client_id: keeper.registered!.client_id })
    expect(await statusWith(access_token)).toBe(401)
  })
})

test('a client is told where tokens come from, and that they are for /mcp', async () => {
  const refused = await fetch(`${server.url}/mcp`, { method: 'POST' })
  const place = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate')!)![1]!
  const resource = await (await fetch(place)).json()
  const [issuer] = resource.authorization_servers
  const described = await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json()

  expect(resource.resource).toBe(`${server.url}/mcp`)
  expect(described.issuer).toBe(issuer)
  expect(described.code_challenge_methods_supported).toEqual(['S256'])
})

test('what a client was allowed counts at /mcp alone: not for the API, and not for realtime', async () => {
  const { tokens } = await allowed()

  expect(await statusWith(tokens.access_token)).toBe(200)
  for (const path of ['/api/user', '/api/apps', '/api/search?q=a'])
    expect(await statusWith(tokens.access_token, path)).toBe(401)
  const exchanged = await server.request('POST', '/api/auth/exchange', { token: tokens.access_token!, body: {} })
  expect(exchanged.status).toBe(401)
  const socket = `${server.url.replace('http', 'ws')}/api/realtime`
  expect(await closedWith(`${socket}?access_token=${tokens.access_token}`)).toBe(4401)
})

test('a code is exchanged once, in time, with its verifier, by its client, for its address', async () => {
  const client = await register(server)
  const other = await register(server)
  const code = codeOf(await decide(client.page(), ann))

  for (const changes of [
    { code_verifier: 'another-verifier-that-is-long-enough-for-anybody' },
    { code_verifier: undefined },
    { client_id: other.client_id },
    { client_id: undefined },
    { redirect_uri: 'http://127.0.0.1:7777/elsewhere' },
    { code: `${code.slice(0, -1)}${code.endsWith('A') ? 'B' : 'A'}x` },
    { grant_type: 'refresh_token', refresh_token: code },
  ])
    expect(await client.exchange(code, changes)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  expect((await client.exchange(code, { resource: 'https://other.example/mcp' })).body.error).toBe('invalid_target')
  expect((await client.exchange(code, { grant_type: 'password' })).body.error).toBe('unsupported_grant_type')

  const { status, body } = await client.exchange(code)
  expect([status, body.token_type, body.expires_in]).toEqual([200, 'Bearer', 3600])
  expect(await statusWith(body.access_token)).toBe(200)
})

test('a code, or a refresh token, that is used twice ends all that came of it', async () => {
  const first = await allowed()
  expect((await first.client.exchange(first.code)).body.error).toBe('invalid_grant')
  expect(await statusWith(first.tokens.access_token)).toBe(401)
  expect((await first.refresh(first.tokens.refresh_token!)).body.error).toBe('invalid_grant')

  const second = await allowed()
  const { body: next } = await second.refresh(second.tokens.refresh_token!)
  expect(await statusWith(next.access_token)).toBe(200)
  expect((await second.refresh(second.tokens.refresh_token!)).status).toBe(400)
  expect(await statusWith(next.access_token)).toBe(401)
  expect((await second.refresh(next.refresh_token!)).status).toBe(400)
})

test('of two that exchange one code at the same time, neither keeps what it got', async () => {
  const client = await register(server)
  const code = codeOf(await decide(client.page(), ann))
  const answers = await Promise.all([client.exchange(code), client.exchange(code)])

  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
  const { body } = answers.find(({ status }) => status === 200)!
  expect(await statusWith(body.access_token)).toBe(401)
})

test('what a client was allowed ends with the tokens of the user, with the user, and by the client alone', async () => {
  const ben = await personWithPassword(server, 'ben')
  const of = async () => {
    const client = await register(server)
    const { body } = await client.exchange(codeOf(await decide(client.page(), ben)))
    const { client_id } = client
    const refresh = () => postForm(server, '/oauth/token', { ...body, grant_type: 'refresh_token', client_id })
    return { access_token: body.access_token!, client_id, refresh }
  }
  const [one, two] = [await of(), await of()]
  await postForm(server, '/oauth/revoke', { token: one.access_token, client_id: two.client_id })
  expect(await statusWith(one.access_token)).toBe(200)
  await postForm(server, '/oauth/revoke', { token: one.access_token, client_id: one.client_id })
  expect([await statusWith(one.access_token), await statusWith(two.access_token)]).toEqual([401, 200])

  await server.admin.delete(`/api/users/${ben.id}/tokens`)
  expect(await statusWith(two.access_token)).toBe(401)
  expect((await two.refresh()).status).toBe(400)

  const three = await of()
  await server.admin.delete(`/api/users/${ben.id}`)
  expect(await statusWith(three.access_token)).toBe(401)
  expect((await three.refresh()).status).toBe(400)
  expect((await decide((await register(server)).page(), ben)).status).toBe(403)
})

test('an open stream ends when an administrator ends what the client was allowed, and the user’s others stay', async () => {
  const eve = await personWithPassword(server, 'eve')
  const [ended, kept] = [await connectByConsent(server, eve), await connectByConsent(server, eve)]
  await using _ = ended.client
  await using __ = kept.client
  const { id: app } = (await server.admin.post('/api/apps', { type: 'chat_room', members: [eve.id] })).body
  const streams = await Promise.all(
    [ended, kept].map(({ client }) => client.listen({ resourceSubscriptions: [`parley://app/${app}`] })),
  )
  await callTool(ended.client, 'send_message', { app, text: 'by a client' })

  const { data } = (await server.admin.get(`/api/admin/grants?user=${eve.id}`)).body
  expect(data).toHaveLength(2)
  expect(data[1]).toMatchObject({
    client: 'Desk',
    user: { id: eve.id, name: 'eve' },
    redirect_uri: callback,
    writes: '1',
  })
  await server.admin.delete(`/api/admin/grants/${data[1].id}`)

  await expect(streams[0]!.closed).resolves.toBe('remote')
  expect(await statusWith(ended.keeper.kept!.access_token)).toBe(401)
  await kept.client.listTools()
  expect((await server.admin.get(`/api/admin/grants?user=${eve.id}`)).body.count).toBe('1')
  expect((await server.admin.delete(`/api/admin/grants/${data[1].id}`)).status).toBe(404)
  const log = (await server.admin.get(`/api/audit?target_id=${eve.id}`)).body.data
  const actions = log.map(({ action }: { action: string }) => action)
  expect(actions.filter((action: string) => /client|tool/.test(action)).toSorted()).toEqual([
    ...['client_allowed', 'client_allowed', 'client_ended', 'tool_called'],
  ])
  expect(log.find(({ action }: { action: string }) => action === 'tool_called').after).toMatchObject({
    grant: Number(data[1].id),
  })
})

test('the browser is sent nowhere before its user has decided, and then to the address that the client has registered', async () => {
  const client = await register(server, 'https://app.example/callback?of=parley')
  const wrong: [Record<string, string | undefined>, string][] = [
    [{ client_id: undefined }, 'not known'],
    [{ client_id: `${client.client_id.slice(0, -1)}!` }, 'not known'],
    [{ client_id: client.client_id.replace(/^./, 'X') }, 'not known'],
    [{ redirect_uri: undefined }, 'not its own'],
    [{ redirect_uri: 'https://app.example/callback' }, 'not its own'],
    [{ redirect_uri: 'https://app.example.evil.example/callback?of=parley' }, 'not its own'],
    [{ redirect_uri: 'https://app.example:444/callback?of=parley' }, 'not its own'],
    [{ redirect_uri: 'https://app.example/callback?of=parley#x' }, 'not its own'],
    [{ redirect_uri: callback }, 'not its own'],
    [{ response_type: 'token' }, 'ask for a code'],
    [{ code_challenge: undefined }, 'code_challenge'],
    [{ code_challenge_method: 'plain' }, 'code_challenge'],
    [{ code_challenge_method: undefined }, 'code_challenge'],
    [{ resource: 'https://other.example/mcp' }, 'other.example'],
  ]
  for (const [changes, sentence] of wrong) {
    const page = client.page(changes)
    const asked = await fetch(page, { redirect: 'manual' })
    expect([asked.status, asked.headers.get('location')]).toEqual([400, null])
    expect(await asked.text()).toContain(sentence)
    const decided = await decide(page, ann)
    expect([changes, decided.status, decided.headers.get('location')]).toEqual([changes, 400, null])
  }

  expect((await fetch(client.page(), { redirect: 'manual' })).status).toBe(200)
  const allowed = new URL((await decide(client.page(), ann)).headers.get('location')!)
  expect(`${allowed.origin}${allowed.pathname}`).toBe('https://app.example/callback')
  expect([...allowed.searchParams.keys()]).toEqual(['of', 'code', 'state', 'iss'])
  const denied = await decide(client.page(), { username: '', password: '', decision: 'deny' })
  expect(new URL(denied.headers.get('location')!).searchParams.get('error')).toBe('access_denied')
})

test('programs on the user’s computer take any port, at the address that they have registered', async () => {
  const client = await register(server)
  const statusAt = async (redirect_uri: string) => (await fetch(client.page({ redirect_uri }))).status

  expect(await statusAt('http://127.0.0.1:51234/callback')).toBe(200)
  for (const other of ['http://localhost:7777/callback', 'http://127.0.0.1:7777/', 'https://127.0.0.1:7777/callback'])
    expect([other, await statusAt(other)]).toEqual([other, 400])
})

test('only addresses of https and of the user’s computer can be registered', async () => {
  for (const uri of [
    ...['http://app.example/', 'ftp://app.example/', 'javascript:alert(1)', 'cursor://back', 'not a url', ''],
    ...[
      'https://user:word@app.example/',
      'https://app.example/#here',
      'http://127.0.0.1.evil.example/',
      `https://a.example/${'a'.repeat(600)}`,
    ],
  ]) {
    const response = await postJson(server, { redirect_uris: [uri] })
    expect([uri, response.status, (await response.json()).error]).toEqual([uri, 400, 'invalid_redirect_uri'])
  }
  for (const redirect_uris of [undefined, [], 'https://a.example', Array(11).fill('https://a.example/')])
    expect((await postJson(server, { redirect_uris })).status).toBe(400)
  const name = '<b>Evil</b>\u202e\n'.repeat(100)
  const made = await (await postJson(server, { client_name: name, redirect_uris: ['http://[::1]:80/back'] })).json()
  expect(made.client_name.length).toBeLessThanOrEqual(80)
  expect(made.client_name).not.toMatch(/[\u202e\n]/)
})

test('no other page can send the form, or show it within itself', async () => {
  const client = await register(server)
  const page = await fetch(client.page())

  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(page.headers.get('content-security-policy')).toContain("form-action 'self' http://127.0.0.1:7777;")
  expect(page.headers.get('x-frame-options')).toBe('DENY')
  expect(page.headers.get('cache-control')).toBe('no-store')
  expect(await page.text()).not.toContain('<script')
  for (const headers of [
    { 'sec-fetch-site': 'cross-site', origin: server.url },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ] as Record<string, string>[]) {
    for (const decision of ['allow', 'deny']) {
      const answer = await decide(client.page(), { ...ann, decision }, headers)
      expect([headers, answer.status, answer.headers.get('location')]).toEqual([headers, 403, null])
    }
  }
  expect((await decide(client.page(), ann, { origin: server.url })).status).toBe(303)
})

test('passwords are guessed no faster here than elsewhere', async () => {
  await using own = await startServer()
  const kim = await personWithPassword(own, 'kim')
  const client = await register(own)
  const attempts = []
  for (let n = 0; n < 12; n++) attempts.push((await decide(client.page(), { ...kim, password: 'wrong' })).status)

  expect(attempts.slice(0, 10)).toEqual(Array(10).fill(403))
  expect(attempts.slice(10)).toEqual([429, 429])
  expect((await decide(client.page(), kim)).status).toBe(429)
  expect((await own.request('POST', '/api/auth', { body: { username: 'kim', password: kim.password } })).status).toBe(
    429,
  )
})

test('what the host or an owner decides of clients holds here', async () => {
  await using off = await startServer({ MCP: 'off' })
  await using host = await startServer({ AUTH_ISSUER: 'https://sign-in.example', AUTH_SECRET: 'x'.repeat(32) })
  await using readOnly = await startServer({ MCP: 'read-only' })
  const statusAt = async (where: Server) => (await fetch(`${where.url}/.well-known/oauth-authorization-server`)).status

  expect([await statusAt(off), await statusAt(host), await statusAt(readOnly)]).toEqual([404, 404, 200])
  expect(await (await fetch((await register(readOnly)).page())).text()).not.toContain('write, react')
})

test('a token of the host is one for /mcp, and the host is named as the one who issues them', async () => {
  await using host = await startHost()
  await using own = await startServer(host.settings)
  await using client = await connectClient(own.url, await host.token('ann'))
  const resource = await (await fetch(`${own.url}/.well-known/oauth-protected-resource/mcp`)).json()

  expect((await callTool(client, 'list_people', { q: 'ann' })).people).toMatchObject([{ uid: 'ann' }])
  expect(resource.authorization_servers).toEqual([host.issuer])
  expect(resource.scopes_supported).toBeUndefined()
  await expect(connectClient(own.url, await host.token('ann', { aud: 'another product' }))).rejects.toThrow()
})
