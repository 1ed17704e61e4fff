import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Answer, Body, Client } from '../support/client.ts'
import { create } from '../support/content.ts'
import { rows, type Row } from './endpoints.ts'
import { createWorld, png, type World } from './world.ts'

let world: World
let description: Body
beforeAll(async () => {
  world = await createWorld()
  description = (await world.server.request('GET', '/api/openapi.json')).body
})
afterAll(() => world[Symbol.asyncDispose]())

/** Operations that more callers may use than the table shows, or fewer. */
const exceptions: Record<string, Row['auth']> = {
  // People see each other, and throw their own posts away.
  'GET /api/users/{user}': 'A',
  'POST /api/posts/{id}/trash': 'A',
  // A vote is somebody's.
  'POST /api/options/{id}/vote': 'T',
}
const keyOf = ({ method, path }: Row) => `${method} ${path}`
const authOf = (row: Row) => exceptions[keyOf(row)] ?? row.auth

const named = (chosen: Row[]) => chosen.map(row => [keyOf(row), row] as const)

test.each(named(rows))('%s is described as it is', (_, row) => {
  const operation = findOperation(row)
  const statuses = Object.keys(operation.responses).map(Number)

  expect(operation.security).toEqual(security[authOf(row)])
  expect(statuses.filter(status => status < 400)).toEqual(row.success)
  expect(statuses).toEqual(expect.arrayContaining(row.errors))
})

test.each(named(rows))('%s answers as it should', async (_, row) => {
  for (const caller of callersOf(row)) {
    const call = await place(row, world)

    expect((await send(caller, row, call)).status, JSON.stringify(call)).toBe(row.success.at(-1))
    if (row.success.length === 2) expect((await send(caller, row, call)).status).toBe(row.success[0])
  }
})

const guarded = rows.filter(row => row.auth !== '-')

test.each(named(guarded))('%s asks for a credential of the right kind', async (_, row) => {
  const { request, key } = world.server
  const call = (token?: string) => request(row.method, row.path, token === undefined ? {} : { token })

  for (const answer of [await call(), await call('wyu_made-up'), await call(`${key}x`)]) {
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
    expect(answer.body).toMatchObject({ status: 401, title: 'Unauthorized' })
  }
  if (authOf(row) === 'K') expect((await call(world.ann.token)).status).toBe(403)
  if (authOf(row) === 'T') expect((await call(key)).status).toBe(403)
})

const onSomething = rows.filter(({ path }) => /\{(?!uid)/.test(path))

test.each(named(onSomething))('%s finds nothing where there is nothing', async (key, row) => {
  const { right } = bodies(world)[key] ?? {}
  for (const ref of ['999999999', 'nobody']) {
    const path = row.path
      .replace(/\{\w+\}/, ref)
      .replace('{user}', world.ben.id)
      .replace('{name}', 'new')
    const answer = await send(callersOf(row)[0]!, row, { path, body: right })

    expect(answer.body).toMatchObject({ status: 404, title: 'Not Found' })
    expect(answer.body.type).toContain('rfc7231#section-6.5.4')
  }
})

// Forms are refused as a whole.
const validated = rows.filter(({ errors, path }) => errors.includes(422) && path !== '/api/blobs')

test.each(named(validated))('%s refuses what is not valid, by field', async (key, row) => {
  const { wrong, field } = bodies(world)[key]!
  const { path } = await place(row, world)

  const answer = await send(callersOf(row)[0]!, row, { path, body: wrong })

  expect(answer.body).toMatchObject({ status: 422, title: 'Validation Failed' })
  expect(Object.keys(answer.body.errors)[0]).toBe(field)
})

const mayBeBad = rows.filter(({ errors, method }) => errors.includes(400) && method !== 'GET')

test.each(named(mayBeBad))('%s refuses what is no JSON where it takes any', async (_, row) => {
  const { path } = await place(row, world)
  const takesBody = findOperation(row).requestBody !== undefined

  const answer = await send(callersOf(row)[0]!, row, { path, body: '{"' })

  expect(answer.status).toBe(takesBody ? 400 : row.success[0])
})

const inApp = rows.filter(({ path }) => /^\/api\/(apps\/\{app\}|(messages|posts|comments|files|options)\/)/.test(path))

test.each(named(inApp))('%s finds nothing for strangers', async (_, row) => {
  expect((await send(world.eve, row, await place(row, world))).status).toBe(404)
})

// What is in the trash is hidden from readers, and their copies are their own.
const writes = inApp.filter(({ path, errors }) => errors.includes(403) && !/\/(restore|remove)$/.test(path))

test.each(named(writes))('%s is refused to readers', async (_, row) => {
  expect((await send(world.ben, row, await place(row, world))).status).toBe(403)
})

test('an address says which methods it has', async () => {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  const paths = Object.entries<Body>(description.paths)
  // Fixed words stand where other addresses have an id.
  const isUnique = ([path]: [string, Body]) => !/^\/api\/(blobs\/external|notifications\/mark)$/.test(path)
  for (const [path, operations] of paths.filter(isUnique)) {
    const has = Object.keys(operations).map(method => method.toUpperCase())
    for (const method of methods.filter(method => !has.includes(method))) {
      const { status, headers } = await world.server.admin.request(method, path)

      expect(status, `${method} ${path}`).toBe(405)
      const allowed = headers.get('allow')!.split(', ')
      expect(allowed.toSorted()).toEqual([...has, ...(has.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].toSorted())
    }
  }
})

const token = [{ AccessToken: [] }, { HostToken: [] }]
const key = { ApiKey: [] }
const security = { A: [...token, key], K: [key], T: token, '-': [] }

/** To OpenAPI, paths that differ in the names of their segments alone are one. */
function findOperation({ method, path }: Row): Body {
  const shape = (text: string) => text.replaceAll(/\{\w+\}/g, '{}')
  const [, operations] = Object.entries<Body>(description.paths).find(([known]) => shape(known) === shape(path)) ?? []
  return operations?.[method.toLowerCase()]
}

function callersOf(row: Row): Client[] {
  const { server, ann, dirk } = world
  const user = row.path.startsWith('/api/directories') ? dirk : ann
  return { A: [user, server.admin], K: [server.admin], T: [user], '-': [{ ...ann, request: server.request }] }[
    authOf(row)
  ]
}

interface Call {
  path: string
  body?: unknown
}

const send = (who: Client, { method }: Row, { path, body }: Call): Promise<Answer> =>
  who.request(method, path, { body })

/** The operation on something that was made for it. */
async function place(row: Row, world: World): Promise<Call> {
  const { path, method } = row
  const noun = path.split('/')[2]!
  const { right } = bodies(world)[keyOf(row)] ?? {}
  const filled = path
    .replace('{uid}', world.name())
    .replace('{app}', path.includes('{app}') ? await appFor(row, world) : '')
    .replace('{id}', path.includes('{id}') ? await itemFor(noun, world) : '')
    .replace('{dir}', path.includes('{dir}') ? (await world.directory()).name : '')
    .replace('{agent}', path.includes('{agent}') ? await agentFor(row, world) : '')
    .replace('{user}', path.includes('{user}') ? await userFor(row, world) : '')
    .replace('{name}', method === 'PUT' ? 'new' : 'known')
  if (path.endsWith('/restore')) await create(world.server.admin, filled.replace('restore', 'trash'))
  if (path === '/api/auth') await world.user(right)
  if (path === '/api/blobs') return { path, body: toForm() }
  if (keyOf(row) === 'GET /api/embeds') {
    return { path: `${path}?url=${encodeURIComponent(`${world.site.url}/${world.name()}`)}` }
  }
  return { path: filled, body: right }
}

function toForm(): FormData {
  const form = new FormData()
  form.append('blob', new Blob([Uint8Array.from(png)], { type: 'image/png' }), 'dot.png')
  return form
}

async function appFor({ path }: Row, { app, agent, name, dirk, server }: World): Promise<string> {
  if (path.endsWith('/remove')) return (await app('agent_chat', { members: [(await agent()).id] })).id
  const type = ['posts', 'comments'].find(type => path.endsWith(`/${type}`)) ?? 'chat'
  const { id, uid } = await app(type, { uid: name() })
  if (path.includes('/members')) await server.admin.put(`/api/apps/${id}/members/${dirk.id}`)
  return uid
}

async function itemFor(noun: string, world: World): Promise<string> {
  const { ann, message, post, comment, file, blob } = world
  const poll = { text: 'Which?', options: [{ text: 'This' }] }
  switch (noun) {
    case 'messages':
      return (await message(poll)).id
    case 'posts':
      return (await post(poll)).id
    case 'comments':
      return (await comment(poll)).id
    case 'files':
      return (await file()).id
    case 'blobs':
      return (await blob()).id
    case 'options':
      return (await post(poll)).options.data[0].id
    default:
      return (await create(ann, '/api/embeds', { type: 'link', title: 'A link' })).id
  }
}

async function userFor({ path, method }: Row, { user, ann, dirk }: World): Promise<string> {
  if (path.endsWith('/following')) return ann.uid
  if (path.startsWith('/api/apps') && method === 'DELETE') return dirk.uid
  return (await user()).uid
}

async function agentFor({ path }: Row, { agent, server }: World): Promise<string> {
  const { uid } = await agent()
  const { right } = bodies(world)[`POST ${path.split('/').slice(0, 5).join('/')}`] ?? {}
  if (path.endsWith('{name}')) await create(server.admin, path.replace('{agent}', uid).replace('/{name}', ''), right)
  return uid
}

interface Bodies {
  right: object
  /** One that is refused, */
  wrong?: unknown
  /** because of this field. */
  field?: string
}

/** What operations take. */
function bodies({ name, eve, dirk }: World): Record<string, Bodies> {
  const content = { right: { text: 'Hi' }, wrong: { text: 5 }, field: 'text' }
  const reaction = { right: { content: '🎉' }, wrong: { content: 'ab' }, field: 'content' }
  const definition = { name: 'known', description: 'Does it', url: 'https://example.test/' }
  const server = { name: 'known', url: 'https://example.test/' }
  const agent = { uid: name(), name: 'Agent', provider: 'builtin', model: 'm' }
  const external = { provider: 'Box', link: 'https://example.test/', name: 'a.txt', size: 5 }
  return {
    'POST /api/apps': { right: { type: 'chat' }, wrong: {}, field: 'type' },
    'PATCH /api/apps/{app}': { right: { name: 'New' }, wrong: { uid: '5' }, field: 'uid' },
    'PUT /api/apps/{uid}': { right: { type: 'chat' }, wrong: { type: 'x' }, field: 'type' },
    'PUT /api/apps/{app}/members/{user}': { right: {}, wrong: { access: 'all' }, field: 'access' },
    'PUT /api/apps/{app}/members': { right: [{ user: eve.uid }], wrong: [{}], field: '0.user' },
    'DELETE /api/apps/{app}/members': { right: [dirk.id] },
    'POST /api/users': { right: { uid: name() }, wrong: { name: 'No uid' }, field: 'uid' },
    'PATCH /api/users/{user}': { right: { name: 'New' }, wrong: { email: 'x' }, field: 'email' },
    'PUT /api/users/{uid}': { right: { name: 'New' }, wrong: { tags: 'x' }, field: 'tags' },
    'POST /api/auth': { right: { username: name(), password: 'correct horse' } },
    'POST /api/directories': { right: { name: name() }, wrong: { name: 'a b' }, field: 'name' },
    'PATCH /api/directories/{dir}': { right: { name: name() }, wrong: {}, field: 'name' },
    'PUT /api/directories/{dir}/members': { right: [dirk.uid, dirk.id] },
    'DELETE /api/directories/{dir}/members': { right: [dirk.uid, dirk.id] },
    'POST /api/apps/{app}/messages': content,
    'PATCH /api/messages/{id}': content,
    'POST /api/apps/{app}/posts': content,
    'PATCH /api/posts/{id}': content,
    'POST /api/apps/{app}/comments': content,
    'POST /api/files/{id}/comments': content,
    'POST /api/posts/{id}/comments': content,
    'PATCH /api/comments/{id}': content,
    'POST /api/posts/{id}/reactions': reaction,
    'POST /api/comments/{id}/reactions': reaction,
    'POST /api/messages/{id}/reactions': reaction,
    'POST /api/embeds': { right: { type: 'link', title: 'A link' }, wrong: { title: 'x' }, field: 'type' },
    'POST /api/blobs/external': { right: external, wrong: { ...external, size: 'big' }, field: 'size' },
    'POST /api/meetings': {
      right: { join_url: 'https://zoom.us/j/1' },
      wrong: { provider: 'zoom' },
      field: 'join_url',
    },
    'POST /api/agents': { right: agent, wrong: { ...agent, provider: 'nobody' }, field: 'provider' },
    'PATCH /api/agents/{agent}': { right: { model: 'n' }, wrong: { model: 5 }, field: 'model' },
    'PUT /api/agents/{uid}': {
      right: { name: 'A', provider: 'openai', model: 'm' },
      wrong: { name: 5 },
      field: 'name',
    },
    'POST /api/agents/{agent}/functions': { right: definition, wrong: { ...definition, url: 'x' }, field: 'url' },
    'PATCH /api/agents/{agent}/functions/{name}': {
      right: { url: 'https://b.test/' },
      wrong: { url: 5 },
      field: 'url',
    },
    'PUT /api/agents/{agent}/functions/{name}': {
      right: { ...definition, name: 'new' },
      wrong: { name: 'new', url: 'https://b.test/' },
      field: 'description',
    },
    'POST /api/agents/{agent}/mcp': { right: server, wrong: { ...server, approval_mode: 'x' }, field: 'approval_mode' },
    'PATCH /api/agents/{agent}/mcp/{name}': { right: { url: 'https://b.test/' }, wrong: { url: 5 }, field: 'url' },
    'PUT /api/agents/{agent}/mcp/{name}': { right: { ...server, name: 'new' }, wrong: { name: 'new' }, field: 'url' },
  }
}
