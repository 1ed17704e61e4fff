import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Answer, Body } from '../support/client.ts'
import { createWorld, type World } from './world.ts'

let world: World
let description: Body
beforeAll(async () => {
  world = await createWorld()
  description = (await world.server.request('GET', '/api/openapi.json')).body
})
afterAll(() => world[Symbol.asyncDispose]())

const decomposed = 'cafe\u0301'
const composed = 'caf\u00e9'

/** Nothing of these is seen: some of those in test/lib/name.test.ts. */
const blanks = ['\u2800', '\u3164', '\u200b', '\ufe0f']

/** These turn the direction of what follows. */
const directions = ['\u202e', '\u2066']

interface Tried {
  field: string
  /** Calls with this value of the field. */
  send: (value: unknown) => Promise<Answer>
}

/** What a field does with what is sent; each says so of its own. */
const kinds = {
  /** A uid and the like: in NFC, without anything that is not seen. */
  async typed({ field, send }: Tried) {
    const name = `${world.name()}-`
    expect((await send(name + decomposed)).body[field]).toBe(name + composed)
    for (const mark of [...blanks, ...directions])
      expect(await faultsOf(send(`${name}${mark}x`)), mark).toEqual([field])
    // An accent needs a letter to stand on: such a name is refused, or as if it were absent.
    expect((await send('\u0301\u0302')).body[field]).not.toBe('\u0301\u0302')
  },
  async email({ field, send }: Tried) {
    expect((await send(`${decomposed}@x.example`)).body[field]).toBe(`${composed}@x.example`)
    for (const mark of [...blanks, ...directions])
      expect(await faultsOf(send(`a${mark}@x.example`)), mark).toEqual([field])
  },
  /** What is shown of somebody or something: in NFC, and blank is as if it were absent. */
  async shown({ field, send }: Tried) {
    expect((await send(` ${decomposed} 👨‍👩‍👧 `)).body[field]).toBe(`${composed} 👨‍👩‍👧`)
    for (const blank of ['', ...blanks]) {
      const { body } = await send(blank)
      // A name is always shown: without one, it is the uid.
      expect([undefined, body.uid], blank).toContain(body[field])
    }
  },
  /** As shown, but it may not be blank. */
  async needed({ field, send }: Tried) {
    expect((await send(decomposed)).body[field]).toBe(composed)
    for (const blank of ['', ...blanks]) expect(await faultsOf(send(blank)), blank).toEqual([field])
  },
  async tags({ field, send }: Tried) {
    const { body } = await send([decomposed, composed, composed.toUpperCase(), '❤️', '❤'])
    expect(body[field]).toEqual([composed, '❤️'])
    for (const mark of [...blanks, ...directions.map(mark => `a${mark}`)])
      expect(await faultsOf(send([mark])), mark).toEqual([field])
  },
  async file({ field, send }: Tried) {
    const name = world.name()
    expect((await send(`${name}${decomposed}\u202egnp.txt`)).body[field]).toBe(`${name}${composed}gnp.txt`)
    for (const blank of [...blanks, ...directions]) expect(await faultsOf(send(blank)), blank).toEqual([field])
  },
  /** Markdown, where nothing else is sent. */
  async text({ field, send }: Tried) {
    for (const blank of blanks) expect(await faultsOf(send(blank)), blank).toEqual([field])
    expect((await send('\u0e34a 👨‍👩‍👧')).status).toBeLessThan(300)
  },
  async options({ field, send }: Tried) {
    const told = (await send([{ text: decomposed }, { text: 'no' }])).body[field].data
    expect(told.map(({ text }: { text: string }) => text)).toEqual([composed, 'no'])
    expect(await faultsOf(send([{ text: decomposed }, { text: composed.toUpperCase() }]))).toEqual([field])
    for (const blank of blanks) expect(await faultsOf(send([{ text: blank }])), blank).toEqual([field])
  },
  /** Letters and digits of ASCII alone. */
  async plain({ field, send }: Tried) {
    for (const name of [decomposed, composed, ...blanks, ...directions])
      expect(await faultsOf(send(`a${name}`)), name).toEqual([field])
  },
}

/** The outermost fields that a 422 names. */
async function faultsOf(answer: Promise<Answer>): Promise<string[]> {
  const { status, body } = await answer
  return status === 422 ? Object.keys(body.errors).map(field => field.split('.')[0]!) : [`${status}`]
}

interface Operation {
  fields: Record<string, keyof typeof kinds>
  /** Calls with these members, and whatever else it takes. */
  send: (members: Body) => Promise<Answer>
}

const profile = { tags: 'tags' } as const
const person = {
  ...profile,
  username: 'typed',
  email: 'email',
  name: 'shown',
  given_name: 'shown',
  middle_name: 'shown',
  family_name: 'shown',
  nickname: 'shown',
  phone_number: 'shown',
} as const
const agent = { name: 'A', provider: 'openai', model: 'm' }
const tool = { description: 'x', url: 'https://x.example/' }
const content = { tags: 'tags', text: 'text', options: 'options' } as const
/** With a text already, so that a blank one leaves it without. */
const change = { tags: 'tags', text: 'text', options: 'options' } as const

/** Each operation with names in its body, and what they are. */
const operations: Record<string, Operation> = {
  'POST /api/users': {
    fields: { uid: 'typed', ...person },
    send: body => world.server.admin.post('/api/users', { uid: world.name(), ...body }),
  },
  'PATCH /api/users/{user}': {
    fields: { uid: 'typed', ...person },
    send: async body => world.server.admin.patch(`/api/users/${(await world.user()).id}`, body),
  },
  'PUT /api/users/{user}': {
    fields: { uid: 'typed', ...person },
    send: async body => world.server.admin.put(`/api/users/${(await world.user()).uid}`, body),
  },
  'POST /api/agents': {
    fields: { uid: 'typed', name: 'needed', ...profile },
    send: body => world.server.admin.post('/api/agents', { uid: world.name(), ...agent, ...body }),
  },
  'PATCH /api/agents/{agent}': {
    fields: { uid: 'typed', name: 'shown', ...profile },
    send: async body =>
      world.server.admin.patch(`/api/agents/${(await world.agent({ uid: 'x' + world.name() })).id}`, body),
  },
  'PUT /api/agents/{agent}': {
    fields: { uid: 'typed', name: 'shown', ...profile },
    send: async body => world.server.admin.put(`/api/agents/${(await world.agent()).uid}`, body),
  },
  'POST /api/agents/{agent}/functions': {
    fields: { name: 'plain' },
    send: async body =>
      world.server.admin.post(`/api/agents/${(await world.agent()).id}/functions`, { ...tool, ...body }),
  },
  'POST /api/agents/{agent}/mcp': {
    fields: { name: 'plain' },
    send: async body => world.server.admin.post(`/api/agents/${(await world.agent()).id}/mcp`, { ...tool, ...body }),
  },
  'POST /api/agents/{agent}/test': {
    fields: { text: 'text' },
    send: async body => world.server.admin.post(`/api/agents/${(await world.agent()).id}/test`, body),
  },
  'POST /api/apps': {
    fields: { uid: 'typed', name: 'shown', description: 'shown', tags: 'tags' },
    send: body => world.ann.post('/api/apps', { type: 'chat', ...body }),
  },
  'PATCH /api/apps/{app}': {
    fields: { uid: 'typed', name: 'shown', description: 'shown', tags: 'tags' },
    send: async body => world.ann.patch(`/api/apps/${(await world.app('chat')).id}`, body),
  },
  'PUT /api/apps/{app}': {
    fields: { name: 'shown', description: 'shown', tags: 'tags' },
    send: body => world.ann.put(`/api/apps/${world.name()}`, { type: 'chat', ...body }),
  },
  'POST /api/directories': {
    fields: { name: 'typed' },
    send: body => world.server.admin.post('/api/directories', body),
  },
  'PATCH /api/directories/{dir}': {
    fields: { name: 'typed' },
    send: async body => world.server.admin.patch(`/api/directories/${(await world.directory()).id}`, body),
  },
  'POST /api/blobs/external': {
    fields: { name: 'file' },
    send: body =>
      world.ann.post('/api/blobs/external', {
        provider: 'Box',
        link: 'https://x.example/',
        name: 'a',
        size: 1,
        ...body,
      }),
  },
  'POST /api/apps/{app}/files': {
    fields: { name: 'file', tags: 'tags' },
    send: async body =>
      world.ann.post(`/api/apps/${(await world.app('files')).id}/files`, { blob_id: (await world.blob()).id, ...body }),
  },
  'PATCH /api/files/{id}': {
    fields: { name: 'file', tags: 'tags' },
    send: async body => world.ann.patch(`/api/files/${(await world.file()).id}`, body),
  },
  'POST /api/keys': {
    fields: { name: 'needed' },
    send: body => world.server.admin.post('/api/keys', body),
  },
  'PATCH /api/keys/{id}': {
    fields: { name: 'needed' },
    send: async body => {
      const { id } = (await world.server.admin.post('/api/keys', { name: 'k' })).body
      return world.server.admin.patch(`/api/keys/${id}`, body)
    },
  },
  'POST /api/meetings': {
    fields: { provider: 'needed', provider_id: 'shown' },
    send: body => world.ann.post('/api/meetings', { join_url: 'https://x.example/', ...body }),
  },
  'POST /api/embeds': {
    fields: { title: 'shown' },
    send: body => world.ann.post('/api/embeds', { type: 'link', url: 'https://x.example/', ...body }),
  },
  'POST /api/notifications': {
    fields: { text: 'text' },
    send: body => world.server.admin.post('/api/notifications', { user: world.ann.id, ...body }),
  },
  ...Object.fromEntries(
    [
      ['POST /api/apps/{app}/messages', async () => `/api/apps/${(await world.app('chat')).id}/messages`],
      ['POST /api/apps/{app}/posts', async () => `/api/apps/${(await world.app('posts')).id}/posts`],
      ['POST /api/apps/{app}/comments', async () => `/api/apps/${(await world.app('comments')).id}/comments`],
      ['POST /api/posts/{id}/comments', async () => `/api/posts/${(await world.post()).id}/comments`],
      ['POST /api/files/{id}/comments', async () => `/api/files/${(await world.file()).id}/comments`],
    ].map(([operation, path]) => [
      operation,
      {
        fields: content,
        send: async (body: Body) =>
          world.ann.post(await (path as () => Promise<string>)(), { ...(body.tags && { text: 'x' }), ...body }),
      } as Operation,
    ]),
  ),
  ...Object.fromEntries(
    (['message', 'post', 'comment'] as const).map(kind => [
      `PATCH /api/${kind}s/{id}`,
      {
        fields: change,
        send: async (body: Body) => world.ann.patch(`/api/${kind}s/${(await world[kind]()).id}`, body),
      } as Operation,
    ]),
  ),
}

/** Fields that may be names, by what they are called. */
const likeNames = /^(uid|.*name|email|title|tags|text|options|provider|provider_id|description|phone_number)$/

/** Of these, what is no name, or tried with another operation that has the same schema. */
const others = [
  /^POST \/api\/auth (username)$/,
  /^(POST|PATCH|PUT) \/api\/agents\/\{agent\} (provider)$|^POST \/api\/agents provider$/,
  /^(PATCH|PUT) \/api\/agents\/\{agent\}\/(functions|mcp)\/\{name\} (name|description)$/,
  /^POST \/api\/agents\/\{agent\}\/(functions|mcp) description$/,
  /^POST \/api\/blobs\/external provider$/,
  /^POST \/api\/embeds description$/,
]

test('each name in a body is one of those that are tried here', () => {
  const found = Object.entries<Body>(description.paths).flatMap(([path, methods]) =>
    Object.entries<Body>(methods).flatMap(([method, { requestBody }]) => {
      const schema = resolve(requestBody?.content?.['application/json']?.schema)
      const names = Object.keys(schema?.properties ?? {}).filter(name => likeNames.test(name))
      return names.map(name => `${method.toUpperCase()} ${path} ${name}`)
    }),
  )

  const tried = Object.entries(operations).flatMap(([operation, { fields }]) =>
    Object.keys(fields).map(field => `${operation} ${field}`),
  )
  expect(found.filter(field => !others.some(other => other.test(field))).toSorted()).toEqual(tried.toSorted())
})

test('where a uid stands in a path, no word of a path does', () => {
  const paths = Object.keys(description.paths)
  const places = paths.flatMap(path =>
    Array.from(path.matchAll(/\{(?:app|user|agent|dir|uid)\}/g), match => path.slice(0, match.index)),
  )

  const words = [...new Set(places)].flatMap(place =>
    paths.filter(path => path.startsWith(place) && path.length > place.length && path[place.length] !== '{'),
  )
  expect(places).toEqual(expect.arrayContaining(['/api/apps/', '/api/users/', '/api/agents/', '/api/directories/']))
  expect(words).toEqual([])
})

const fields = Object.entries(operations).flatMap(([operation, { fields, send }]) =>
  Object.entries(fields).map(([field, kind]) => ({ operation, field, kind, send })),
)

test.each(fields)('$field of $operation is taken as $kind, and nothing else', async ({ field, kind, send }) => {
  await kinds[kind]({ field, send: value => send({ [field]: value }) })
})

function resolve(schema: Body): Body {
  return schema?.$ref === undefined ? schema : resolve(description.components.schemas[schema.$ref.split('/').at(-1)])
}
