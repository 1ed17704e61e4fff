import { expect, test } from 'vitest'
import { Agent } from '../../src/resources/agents/schema.ts'
import { startServer, type Server } from '../support/server.ts'

const lookUp = {
  name: 'look_up',
  description: 'Looks up an order',
  method: 'POST',
  url: 'https://shop.example.com/orders/{id}',
  headers: { 'x-api-key': 's3cret' },
  parameters: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
}
const tools = {
  name: 'tools',
  url: 'https://mcp.example.com/mcp',
  description: 'Tools of the shop',
  allowed_tools: ['refund'],
  approval_mode: 'never',
  headers: { authorization: 'Bearer s3cret' },
}

test('an agent comes back with all that was given', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'acme' })
  const docs = await server.admin.post('/api/apps', { type: 'files', uid: 'docs' })

  const made = await server.admin.post('/api/agents', {
    uid: 'bot',
    name: 'Bot',
    provider: 'openai',
    model: 'small',
    instructions: 'Be brief.',
    functions: [lookUp],
    knowledge: ['docs', docs.body.id],
    web_search: true,
    max_tokens: '500',
    directories: ['acme'],
    comment: 'Helps',
    tags: ['shop'],
    metadata: { level: 1, none: null },
  })

  expect(made.status).toBe(201)
  expect(made.body).toEqual({
    id: expect.stringMatching(/^\d+$/),
    uid: 'bot',
    name: 'Bot',
    provider: 'openai',
    model: 'small',
    instructions: 'Be brief.',
    functions: ['look_up'],
    knowledge: [docs.body.id],
    web_search: true,
    max_tokens: '500',
    directories: [{ id: '1', name: 'acme' }],
    comment: 'Helps',
    tags: ['shop'],
    metadata: { level: 1, none: null },
    created_at: expect.any(String),
    is_agent: true,
    is_trashed: false,
  })
  expect((await server.admin.get('/api/agents/bot')).body).toEqual(made.body)
  Agent.strict().parse(made.body)
})

test('users and agents share uids and ids, and neither is the other to the operations of its kind', async () => {
  await using server = await startServer()
  const { body: ann } = await server.admin.post('/api/users', { uid: 'ann' })
  const { body: agent } = await createAgent(server, 'bot')

  const taken = await server.admin.post('/api/agents', { uid: 'ANN', name: 'x', provider: 'openai', model: 'x' })
  const upserted = await server.admin.put('/api/agents/ann', { name: 'x', provider: 'openai', model: 'x' })
  const asUser = await server.admin.patch(`/api/users/${agent.id}`, { name: 'x' })
  const asAgent = await server.admin.get('/api/agents/ann')
  const read = await server.admin.get('/api/users/bot')
  for (const [method, path, body] of [
    ['PATCH', '', { name: 'x' }],
    ['POST', '/trash'],
    ['POST', '/restore'],
    ['DELETE', ''],
    ['POST', '/functions', lookUp],
  ] as const) {
    expect((await server.admin.request(method, `/api/agents/ann${path}`, { body })).status, method + path).toBe(404)
  }

  expect((await server.admin.get('/api/users/ann')).body).toEqual(ann)
  expect([taken.status, upserted.status, asUser.status, asAgent.status]).toEqual([422, 422, 404, 404])
  expect(taken.body.errors).toHaveProperty('uid')
  expect(read.body).toMatchObject({ id: agent.id, is_agent: true, presence: 'active' })
})

test('what cannot be an agent is refused, by field', async () => {
  await using server = await startServer()
  await server.admin.post('/api/apps', { type: 'chat', uid: 'chat' })
  const whole = { uid: 'bot', name: 'Bot', provider: 'openai', model: 'small' }
  const faults: [object, string][] = [
    [{ uid: '12' }, 'uid'],
    [{ uid: undefined }, 'uid'],
    [{ name: ' ' }, 'name'],
    [{ provider: 'other' }, 'provider'],
    [{ model: undefined }, 'model'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ instructions: 'x'.repeat(32_769) }, 'instructions'],
    [{ knowledge: ['chat'] }, 'knowledge'],
    [{ knowledge: ['999999'] }, 'knowledge'],
    [{ directories: ['nowhere'] }, 'directories'],
    [{ functions: [lookUp, lookUp] }, 'functions'],
    [{ functions: [{ ...lookUp, url: 'file:///etc/passwd' }] }, 'functions.0.url'],
    [{ functions: [{ ...lookUp, headers: { 'a b': 'x' } }] }, 'functions.0.headers'],
    [{ functions: [{ ...lookUp, headers: { a: 'x\r\ny: z' } }] }, 'functions.0.headers'],
    [{ functions: [{ ...lookUp, parameters: { type: 'array' } }] }, 'functions.0.parameters'],
    [{ functions: [{ ...lookUp, method: 'TRACE' }] }, 'functions.0.method'],
  ]

  const answers = await Promise.all(faults.map(([fault]) => server.admin.post('/api/agents', { ...whole, ...fault })))

  expect(answers.map(({ status }) => status)).toEqual(faults.map(() => 422))
  expect(answers.map(({ body }) => Object.keys(body.errors)[0]?.replaceAll(/\[(\d+)\]/g, '.$1'))).toEqual(
    faults.map(([, field]) => field),
  )
  expect((await server.admin.get('/api/agents?count_only=true')).body).toEqual({ count: '0' })
})

test('an update leaves what is absent, clears what is null and replaces functions as a set', async () => {
  await using server = await startServer()
  await createAgent(server, 'bot', { instructions: 'Be brief.', functions: [lookUp], max_tokens: 5, comment: 'x' })

  const { body } = await server.admin.patch('/api/agents/bot', {
    instructions: null,
    max_tokens: null,
    comment: null,
    functions: [{ name: 'other', description: 'Other', url: 'http://shop.example.com' }],
  })

  expect(body).toMatchObject({ uid: 'bot', provider: 'openai', model: 'small', functions: ['other'] })
  for (const cleared of ['instructions', 'max_tokens', 'comment']) expect(body).not.toHaveProperty(cleared)
  expect(body.updated_at).toBeDefined()
})

test('an upsert makes an agent once, and what changes nothing leaves no trace', async () => {
  await using server = await startServer()
  const given = { name: 'Bot', provider: 'gemini', model: 'small', functions: [lookUp] }

  const first = await server.admin.put('/api/agents/bot', given)
  const second = await server.admin.put('/api/agents/BOT', given)
  const incomplete = await server.admin.put('/api/agents/new', { name: 'New' })

  expect([first.status, second.status, incomplete.status]).toEqual([201, 200, 422])
  expect(Object.keys(incomplete.body.errors)).toEqual(['provider', 'model'])
  expect(second.body).toEqual(first.body)
})

test('the built-in provider is chosen when an agent is made, and kept by updates that name it', async () => {
  await using server = await startServer()
  await createAgent(server, 'own', { provider: 'builtin' })
  await createAgent(server, 'bought')

  const kept = await server.admin.patch('/api/agents/own', { provider: 'builtin', model: 'large' })
  const changed = await server.admin.patch('/api/agents/bought', { provider: 'builtin' })
  const made = await server.admin.put('/api/agents/new', { name: 'New', provider: 'builtin', model: 'x' })

  expect([kept.status, changed.status, made.status]).toEqual([200, 422, 422])
  expect(kept.body).toMatchObject({ provider: 'builtin', model: 'large' })
})

test('a trashed agent is out of sight until it is restored, and its tokens are rejected', async () => {
  await using server = await startServer()
  await createAgent(server, 'bot')
  const { body } = await server.admin.post('/api/users/bot/tokens')
  const whoAmI = () => server.request('GET', '/api/user', { token: body.access_token })
  expect((await whoAmI()).body).toMatchObject({ uid: 'bot', is_agent: true })

  await server.admin.post('/api/agents/bot/trash')

  expect((await whoAmI()).status).toBe(401)
  expect((await server.admin.get('/api/agents/bot')).status).toBe(404)
  expect((await server.admin.get('/api/agents/bot?trashed=true')).body).toMatchObject({ is_trashed: true })
  expect((await server.admin.get('/api/agents?count_only=true')).body).toEqual({ count: '0' })
  expect((await server.admin.get('/api/agents?trashed=true')).body).toMatchObject({ count: '1' })
  expect((await server.admin.post('/api/agents/bot/restore')).status).toBe(204)
  expect((await server.admin.get('/api/agents/bot')).body).toMatchObject({ is_trashed: false })
})

test('what a deleted agent wrote stays, by the deleted user', async () => {
  await using server = await startServer()
  const { body: agent } = await createAgent(server, 'bot', { functions: [lookUp] })
  const { body: room } = await server.admin.post('/api/apps', { type: 'chat_room', members: [agent.id] })
  const { body: token } = await server.admin.post('/api/users/bot/tokens')
  const sent = await server.request('POST', `/api/apps/${room.id}/messages`, {
    body: { text: 'Hello' },
    token: token.access_token,
  })

  const { status } = await server.admin.delete('/api/agents/bot')

  expect(status).toBe(204)
  expect((await server.admin.get('/api/agents/bot?trashed=null')).status).toBe(404)
  expect((await server.admin.get(`/api/messages/${sent.body.id}`)).body).toMatchObject({ created_by: { id: '-1' } })
  expect((await server.admin.get(`/api/apps/${room.id}/members`)).body).toMatchObject({ count: '0' })
  expect((await createAgent(server, 'bot')).body).not.toHaveProperty('functions')
})

test('agents are listed by the beginnings of their names, to users without what they were told', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await server.admin.post('/api/directories', { name: 'acme' })
  await createAgent(server, 'helper', { name: 'Order Helper', instructions: 'Secret', functions: [lookUp] })
  await createAgent(server, 'closed', { name: 'Closed', directories: ['acme'] })

  const byPrefix = await server.admin.get('/api/agents?q=hel')
  const byWord = await server.admin.get('/api/agents?q=hel&autocomplete=false')
  const inside = await server.admin.get('/api/agents?directory=acme')
  const mine = await ann.get('/api/agents')

  expect(byPrefix.body.data).toMatchObject([{ uid: 'helper', instructions: 'Secret', functions: ['look_up'] }])
  expect(byWord.body).toMatchObject({ count: '0' })
  expect(inside.body.data).toMatchObject([{ uid: 'closed' }])
  expect(mine.body.data).toMatchObject([{ uid: 'helper', is_agent: true }])
  expect(mine.body.data[0]).not.toHaveProperty('instructions')
  expect(mine.body.data[0]).not.toHaveProperty('functions')
  expect((await ann.get('/api/agents/helper')).status).toBe(403)
})

test('knowledge in an app that is deleted is no longer the agent’s', async () => {
  await using server = await startServer()
  const { body: docs } = await server.admin.post('/api/apps', { type: 'files', uid: 'docs' })
  await createAgent(server, 'bot', { knowledge: [Number(docs.id)] })

  await server.admin.delete(`/api/apps/${docs.id}`)

  expect((await server.admin.get('/api/agents/bot')).body).not.toHaveProperty('knowledge')
})

test('functions are added, changed, renamed and removed by name', async () => {
  await using server = await startServer()
  await createAgent(server, 'bot')
  const path = '/api/agents/bot/functions'
  expect((await server.admin.get(path)).body).toEqual([])

  const added = await server.admin.post(path, lookUp)
  const again = await server.admin.post(path, lookUp)
  const changed = await server.admin.patch(`${path}/look_up`, { name: 'find', method: null, headers: null })
  const put = await server.admin.put(`${path}/second`, { name: 'second', description: 'Second', url: lookUp.url })
  const updated = await server.admin.put(`${path}/second`, { name: 'second', description: '2nd', url: lookUp.url })
  const otherName = await server.admin.put(`${path}/second`, { name: 'third', description: 'x', url: lookUp.url })
  const clash = await server.admin.patch(`${path}/second`, { name: 'find' })

  expect(added).toMatchObject({ status: 201, body: lookUp })
  expect(again).toMatchObject({ status: 422, body: { errors: { name: expect.anything() } } })
  const { headers: _, ...bare } = lookUp
  expect(changed.body).toEqual({ ...bare, name: 'find', method: 'GET' })
  expect([put.status, updated.status, otherName.status, clash.status]).toEqual([201, 200, 422, 422])
  expect((await server.admin.get(path)).body).toMatchObject([{ name: 'find' }, { name: 'second', description: '2nd' }])
  expect((await server.admin.get('/api/agents/bot')).body).toMatchObject({ functions: ['find', 'second'] })
  expect((await server.admin.delete(`${path}/find`)).status).toBe(204)
  expect((await server.admin.delete(`${path}/find`)).status).toBe(404)
  expect((await server.admin.get(`${path}/find`)).status).toBe(404)
})

test('an agent has at most 64 functions, however they are added', async () => {
  await using server = await startServer()
  const functions = Array.from({ length: 64 }, (_, i) => ({ ...lookUp, name: `f${i}` }))
  await createAgent(server, 'bot', { functions: functions.slice(1) })

  const adding = ['a', 'b', 'c'].map(name => server.admin.post('/api/agents/bot/functions', { ...lookUp, name }))
  const statuses = (await Promise.all(adding)).map(({ status }) => status)
  const tooMany = [...functions, { ...lookUp, name: 'one-more' }]
  const replaced = await server.admin.patch('/api/agents/bot', { functions: tooMany })

  expect(statuses.sort()).toEqual([201, 422, 422])
  expect(replaced.status).toBe(422)
})

test('tool servers are added, changed, renamed and removed by name', async () => {
  await using server = await startServer()
  await createAgent(server, 'bot')
  const path = '/api/agents/bot/mcp'

  const added = await server.admin.post(path, tools)
  const bare = await server.admin.put(`${path}/bare`, { name: 'bare', url: tools.url })
  const changed = await server.admin.patch(`${path}/tools`, { name: 'shop', allowed_tools: null, approval_mode: null })
  const put = await server.admin.put(`${path}/shop`, { name: 'shop', url: 'https://mcp.example.com/v2' })
  const bad = await server.admin.put(`${path}/a.b`, { name: 'a.b', url: tools.url })

  expect(added).toMatchObject({ status: 201, body: tools })
  expect(bare).toMatchObject({ status: 201, body: { name: 'bare', url: tools.url, approval_mode: 'always' } })
  expect(changed.body).toMatchObject({ name: 'shop', approval_mode: 'always', headers: tools.headers })
  expect(changed.body).not.toHaveProperty('allowed_tools')
  expect(put).toMatchObject({
    status: 200,
    body: { url: 'https://mcp.example.com/v2', description: tools.description },
  })
  expect(bad.status).toBe(422)
  expect((await server.admin.get(path)).body).toMatchObject([{ name: 'shop' }, { name: 'bare' }])
  expect((await server.admin.delete(`${path}/shop`)).status).toBe(204)
  expect((await server.admin.get(`${path}/shop`)).status).toBe(404)
  expect((await server.admin.get('/api/agents/bot')).body).not.toHaveProperty('mcp')
})

test('functions and tool servers are no business of users, and gone with an agent in the trash', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await createAgent(server, 'bot', { functions: [lookUp] })

  const asUser = await Promise.all(
    ['functions', 'functions/look_up', 'mcp'].map(it => ann.get(`/api/agents/bot/${it}`)),
  )
  await server.admin.post('/api/agents/bot/trash')
  const trashed = await Promise.all(
    ['functions', 'functions/look_up', 'mcp'].map(it => server.admin.get(`/api/agents/bot/${it}`)),
  )
  const unknown = await server.admin.post('/api/agents/nobody/functions', lookUp)

  expect(asUser.map(({ status }) => status)).toEqual([403, 403, 403])
  expect(trashed.map(({ status }) => status)).toEqual([404, 404, 404])
  expect(unknown.status).toBe(404)
})

test('a copilot asks for its chat and makes it at once; one of the two answers is the chat, now and later', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const ben = await server.person('Ben')
  await createAgent(server, 'assistant')
  const body = { type: '2352a1c6-abc6-420e-8b85-ca7d5aed8779', members: ['assistant'], uid: 'cop-1', name: 'Help' }
  const load = (who: typeof ann) => Promise.all([who.get('/api/apps/cop-1'), who.post('/api/apps', body)])

  const [, first] = await load(ann)
  const later = await load(ann)
  const [, others] = await load(ben)

  expect(first).toMatchObject({
    status: 201,
    body: { uid: 'cop-1', name: 'Help', permissions: expect.arrayContaining(['create', 'admin']) },
  })
  expect(later.map(({ status }) => status)).toEqual([200, 422])
  expect(later[0].body.id).toBe(first.body.id)
  expect(others.status).toBe(201)
  expect(others.body.id).not.toBe(first.body.id)
  expect((await ben.get(`/api/apps/${first.body.id}`)).status).toBe(404)
})

test('an agent chat is between one person and one agent, and nobody else gets in', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const ben = await server.person('Ben')
  await createAgent(server, 'assistant')
  await createAgent(server, 'other')
  const make = (members: string[]) => ann.post('/api/apps', { type: 'agent_chat', members })

  const refused = await Promise.all([
    make([]),
    make([ben.uid]),
    make(['assistant', 'other']),
    make(['assistant', ben.uid]),
  ])
  const [one, two] = await Promise.all([make(['assistant']), make(['assistant'])])
  const byKey = await server.admin.post('/api/apps', { type: 'agent_chat', members: [ann.uid, 'other'] })

  expect(refused.map(({ status }) => status)).toEqual([422, 422, 422, 422])
  expect([one.status, two.status, byKey.status]).toEqual([201, 201, 201])
  expect(one.body.id).not.toBe(two.body.id)
  expect((await ann.put(`/api/apps/${one.body.id}/members/${ben.id}`)).status).toBe(422)
  expect((await ann.patch(`/api/apps/${one.body.id}`, { access: 'write' })).status).toBe(422)
  const mine = await ann.get('/api/apps?member=assistant&type=agent_chat&order_by=id')
  expect(mine.body.data.map(({ id }: { id: string }) => id).sort()).toEqual([one.body.id, two.body.id].sort())
  expect((await ann.get(`/api/apps/${byKey.body.id}`)).body).toMatchObject({
    permissions: expect.arrayContaining(['admin']),
  })
})

test('an agent makes no agent chat by its own token: there would be no person in it', async () => {
  await using server = await startServer()
  await createAgent(server, 'bot')
  await createAgent(server, 'other')
  const { body: token } = await server.admin.post('/api/users/bot/tokens')
  const asBot = (method: string, path: string, body: object) =>
    server.request(method, path, { body, token: token.access_token })
  const chat = { type: 'agent_chat', members: ['other'] }

  const refused = [await asBot('POST', '/api/apps', chat), await asBot('PUT', '/api/apps/helpers', chat)]

  for (const { status, body } of refused) {
    expect([status, body.errors]).toEqual([422, { members: [expect.any(String)] }])
  }
  expect((await server.admin.get('/api/apps?count_only=true')).body).toEqual({ count: '0' })
  expect((await asBot('POST', '/api/apps', { ...chat, type: 'private_chat' })).status).toBe(201)
})

function createAgent({ admin }: Pick<Server, 'admin'>, uid: string, settings: object = {}) {
  return admin.post('/api/agents', { uid, name: uid, provider: 'openai', model: 'small', ...settings })
}
