import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { create } from '../support/content.ts'
import type { Person } from '../support/server.ts'
import { createWorld, png, type World } from './world.ts'

let world: World
let picture: string
beforeAll(async () => {
  world = await createWorld()
  picture = `data:image/png;base64,${png.toString('base64')}`
})
afterAll(() => world[Symbol.asyncDispose]())

/** The members of an object, which is all that is known of it here, in the order of the alphabet. */
const fieldsOf = (body: Body) => Object.keys(body).toSorted()
const fields = (...texts: string[]) => texts.flatMap(text => text.split(' ')).toSorted()

const paged = 'count data end start'
const blob = 'height id media_type name size thumbnail_url width'
const appSummary =
  'access avatar_url created_at description directory_id id is_pinned is_starred is_subscribed is_trashed is_unread ' +
  'kind metadata name permissions rev tags type uid updated_at'
const userSummary =
  'avatar_url comment created_at directories email family_name given_name id is_trashed metadata middle_name name ' +
  'nickname phone_number presence tags uid updated_at'
const contentSummary = 'created_at html id is_starred is_subscribed is_trashed metadata plain tags text updated_at'
const agentSummary =
  'avatar_url comment created_at directories functions id instructions is_agent is_trashed knowledge max_tokens ' +
  'metadata model name provider tags uid updated_at web_search'

describe('an app with everything', () => {
  let app: Body
  beforeAll(async () => {
    const directory = await world.directory()
    const given = { name: 'Room', description: 'A room', metadata: { a: null }, tags: ['x'], access: 'read' }
    app = await world.app('chat', { uid: world.name(), picture, ...given })
    await create(world.ann, `/api/apps/${app.id}/messages`, { text: 'Hi' })
    app = (await world.server.admin.patch(`/api/apps/${app.id}`, { directory: directory.name })).body
  })

  test('has all fields by itself', () => {
    expect(fieldsOf(app)).toEqual(fields(appSummary, 'last_message members picture'))
    expect(fieldsOf(app.picture)).toEqual(fields(blob))
    expect(fieldsOf(app.members)).toEqual(fields(paged))
    expect(app).toMatchObject({
      id: expect.stringMatching(/^\d+$/),
      type: 'd65dd4bc-418e-403c-9f56-f9cf4da931ed',
      access: 'read',
      metadata: { a: null },
      members: { start: '0', end: '2', count: '2' },
      is_pinned: false,
    })
  })

  test('is a summary in lists, and where content names it', async () => {
    const { body } = await world.server.admin.get(`/api/apps?uid=${app.uid}`)
    const { app: named } = await create(world.server.admin, `/api/apps/${app.id}/messages`, { text: 'Hi' })

    expect(fieldsOf(body.data[0])).toEqual(fields(appSummary))
    expect(fieldsOf(named)).toEqual(fields(appSummary))
  })

  test('shows its last message as a summary', () => {
    const written = contentSummary.replace(/metadata |tags |updated_at/g, '').trim()
    expect(fieldsOf(app.last_message)).toEqual(expect.arrayContaining(fields(written)))
    expect(app.last_message).not.toHaveProperty('app')
  })

  test('lists its members with what is known of them', async () => {
    const agent = await world.agent({ picture, comment: 'Helps' })
    const { ann, ben, server } = world
    await server.admin.patch(`/api/users/${ann.id}`, { picture, comment: 'Away' })
    await server.admin.put(`/api/apps/${app.id}/members/${agent.id}`)
    await ann.put(`/api/apps/${app.id}/mark`)

    const { body } = await server.admin.get(`/api/apps/${app.id}/members`)

    const find = (id: string) => body.data.find((item: Body) => item.id === id)
    const item = 'access avatar_url comment id name presence uid'
    expect(fieldsOf(find(ann.id))).toEqual(fields(item, 'marked_at marked_id'))
    expect(fieldsOf(find(agent.id))).toEqual(fields(item, 'is_agent'))
    expect(find(agent.id)).toMatchObject({ access: 'write', is_agent: true, presence: 'active' })
    expect(find(ben.id)).toMatchObject({ access: 'read' })
  })
})

test('a files app has an archive once there is something in it', async () => {
  const file = await world.file()
  const { body } = await world.ann.get(`/api/apps/${file.app.id}`)

  expect(body.archive_url).toMatch(/^http/)
  expect((await fetch(body.archive_url)).headers.get('content-type')).toBe('application/zip')
})

describe('a user with everything', () => {
  const given = {
    name: 'Ada Park',
    given_name: 'Ada',
    middle_name: 'B',
    family_name: 'Park',
    nickname: 'ad',
    email: 'ada@example.test',
    phone_number: '555',
    comment: 'Away',
    metadata: { size: 1 },
    tags: ['x'],
  }
  let user: Body
  let directory: Body
  beforeAll(async () => {
    directory = await world.directory()
    const { id } = await world.user({ ...given, username: world.name(), password: 'correct horse', picture })
    user = (await world.server.admin.patch(`/api/users/${id}`, { directories: [directory.name] })).body
  })

  test('has all fields by itself, and never its password', () => {
    expect(fieldsOf(user)).toEqual(fields(userSummary, 'picture username'))
    expect(user).toMatchObject({
      ...given,
      metadata: { size: 1 },
      directories: [{ id: directory.id, name: directory.name }],
    })
    expect(fieldsOf(user.picture)).toEqual(fields(blob))
  })

  test('is the same to itself, and when it signs in', async () => {
    const { access_token: token } = await create(world.server.admin, `/api/users/${user.id}/tokens`)
    const { body: self } = await world.server.request('GET', '/api/user', { token })
    const { body: signedIn } = await world.server.request('POST', '/api/auth', {
      body: { username: user.username, password: 'correct horse' },
    })

    for (const shown of [self, signedIn])
      expect(fieldsOf(shown)).toEqual(fields(userSummary, 'is_followed picture username'))
  })

  test('is a summary in lists', async () => {
    const { admin } = world.server
    const lists = await Promise.all([
      admin.get(`/api/users?directory=${directory.name}&q=ada`),
      admin.get(`/api/directories/${directory.id}/members?q=ada`),
    ])

    for (const { body } of lists) expect(fieldsOf(body.data[0])).toEqual(fields(userSummary, 'username'))
  })

  test('is seen by others with whether they follow it', async () => {
    const { body } = await world.dirk.post(`/api/users/${user.uid}/follow`)

    expect(fieldsOf(body)).toEqual(fields(userSummary, 'is_followed picture'))
    expect(body.is_followed).toBe(true)
    expect((await world.dirk.post(`/api/users/${user.uid}/unfollow`)).body.is_followed).toBe(false)
    await world.dirk.post(`/api/users/${user.uid}/follow`)
    const { body: list } = await world.dirk.get(`/api/users/${world.dirk.id}/following`)
    expect(fieldsOf(list.data[0])).toEqual(fields(userSummary, 'is_followed'))
  })
})

test('a directory has its members by itself, and its name in lists', async () => {
  const { name } = await world.directory()
  const { body } = await world.server.admin.get(`/api/directories/${name}`)
  const { body: list } = await world.server.admin.get(`/api/directories?q=${name}`)

  expect(fieldsOf(body)).toEqual(fields('id members name'))
  expect(body.members).toMatchObject({ start: '0', end: '1', count: '1', data: [{ id: world.dirk.id }] })
  expect(fieldsOf(list.data[0])).toEqual(fields('id name'))
})

test('an agent has all fields by itself, and no picture in lists', async () => {
  const { admin } = world.server
  const directory = await world.directory()
  const knowledge = await world.app('files')
  const { uid } = await world.agent({
    picture,
    instructions: 'Be kind',
    functions: [{ name: 'f', description: 'Does it', url: 'https://example.test/' }],
    knowledge: [knowledge.id],
    web_search: true,
    max_tokens: '500',
    directories: [directory.id],
    comment: 'Helps',
    tags: ['x'],
    metadata: { size: 1 },
  })
  const { body } = await admin.patch(`/api/agents/${uid}`, { name: 'Helper' })
  const { body: list } = await admin.get(`/api/agents?directory=${directory.id}`)

  expect(fieldsOf(body)).toEqual(fields(agentSummary, 'picture'))
  expect(body).toMatchObject({
    name: 'Helper',
    provider: 'builtin',
    functions: ['f'],
    knowledge: [knowledge.id],
    web_search: true,
    max_tokens: '500',
    is_agent: true,
    is_trashed: false,
    directories: [{ id: directory.id, name: directory.name }],
  })
  expect(fieldsOf((await admin.get(`/api/agents/${uid}`)).body)).toEqual(fields(agentSummary, 'picture'))
  expect(fieldsOf(list.data[0])).toEqual(fields(agentSummary))
})

test('functions and tool servers have what they were given', async () => {
  const { admin } = world.server
  const { uid } = await world.agent()
  const definition = {
    name: 'f',
    description: 'Does it',
    url: 'https://example.test/{id}',
    headers: { 'X-Key': 'k' },
    parameters: { type: 'object', properties: { id: { type: 'integer', minimum: 1 } }, required: ['id'] },
  }
  const server = {
    name: 's',
    url: 'https://example.test/',
    description: 'Tools',
    allowed_tools: ['one'],
    approval_mode: 'never',
    headers: { 'X-Key': 'k' },
  }

  expect(await create(admin, `/api/agents/${uid}/functions`, definition)).toEqual({ method: 'GET', ...definition })
  expect(await create(admin, `/api/agents/${uid}/mcp`, server)).toEqual(server)
  expect((await admin.get(`/api/agents/${uid}/functions`)).body).toEqual([{ method: 'GET', ...definition }])
  expect((await admin.get(`/api/agents/${uid}/mcp`)).body).toEqual([server])
})

const kinds = [
  ['chat', 'messages'],
  ['posts', 'posts'],
  ['comments', 'comments'],
] as const

describe.each(kinds)('in an app of type %s, one of the %s', (type, plural) => {
  let app: Body
  let item: Body
  beforeAll(async () => {
    const { ann, server } = world
    app = await world.app(type)
    const embed = await create(ann, '/api/embeds', { type: 'link', title: 'A link' })
    const meeting = await create(ann, '/api/meetings', { join_url: 'https://zoom.us/j/1' })
    const { id } = await create(ann, `/api/apps/${app.id}/${plural}`, {
      text: 'Is **this** it?',
      blobs: [(await world.blob()).id],
      embed_id: embed.id,
      meeting_id: meeting.id,
      options: [{ text: 'Yes' }],
      metadata: { size: 1 },
      tags: ['x'],
    })
    await ann.post(`/api/${plural}/${id}/reactions`, { content: '🎉' })
    item = (await ann.patch(`/api/${plural}/${id}`, { text: 'Is **that** it?' })).body
    expect((await server.admin.get(`/api/${plural}/${id}`)).body.text).toBe('Is **that** it?')
  })

  test('has all fields by itself', () => {
    const whole = 'annotations app attachments created_by embed meeting options reactions updated_by'
    expect(fieldsOf(item)).toEqual(fields(contentSummary, whole, ...(plural === 'posts' ? ['comments'] : [])))
    for (const list of ['attachments', 'options', 'reactions']) {
      expect(item[list]).toMatchObject({ start: '0', end: '1', count: '1', data: [expect.any(Object)] })
    }
    expect(item).toMatchObject({
      text: 'Is **that** it?',
      html: '<p>Is <strong>that</strong> it?</p>',
      plain: 'Is that it?',
      created_by: { id: world.ann.id },
      updated_by: { id: world.ann.id },
    })
  })

  test('is a summary in lists', async () => {
    const { ann } = world
    const everywhere = await ann.get(`/api/${plural}?tag=x`)
    const { body } = await ann.get(`/api/apps/${app.id}/${plural}`)

    expect(fieldsOf(body.data[0])).toEqual(fields(contentSummary))
    expect(fieldsOf(everywhere.body.data[0])).toEqual(fields(contentSummary))
  })

  test('lists its reactions and options in short', async () => {
    const { ann } = world
    const [option] = item.options.data
    const { body: voted } = await ann.post(`/api/options/${option.id}/vote`)
    const { body: options } = await ann.get(`/api/${plural}/${item.id}/options`)
    const { body: reactions } = await ann.get(`/api/${plural}/${item.id}/reactions`)

    expect(fieldsOf(voted)).toEqual(fields('has_voted id text votes'))
    expect(voted.votes).toMatchObject({ start: '0', end: '1', count: '1', data: [{ id: ann.id }] })
    expect(options).toEqual({
      data: [{ id: option.id, text: 'Yes', has_voted: true }],
      start: '0',
      end: '1',
      count: '1',
    })
    expect(reactions.data).toEqual([{ content: '🎉', created_at: expect.stringMatching(/Z$/) }])
  })
})

test('a comment names what it is about', async () => {
  const { ann, comment, file } = world
  const onPost = await comment()
  const { id } = await file()
  const onFile = await create(ann, `/api/files/${id}/comments`, { text: 'Hi' })

  expect(fieldsOf(onPost.parent)).toEqual(fields('id type'))
  expect(onPost.parent.type).toBe('post')
  expect(onFile.parent).toEqual({ id, type: 'file' })
})

test('an embed has what it was given, in one of its types', async () => {
  const { ann, server } = world
  const link = { type: 'link', title: 'T', description: 'D', url: 'https://example.test/', metadata: { size: 1 } }
  const video = { type: 'video', html: '<iframe src="https://example.test/v"></iframe>', width: '640', height: '360' }
  const shown = await create(ann, '/api/embeds', { ...link, actions: ['Go'], image: picture })
  const played = await create(ann, '/api/embeds', { ...video, width: 640, height: '360' })

  expect(shown).toMatchObject({ ...link, actions: ['Go'] })
  expect(fieldsOf(shown)).toEqual(fields('actions description id image metadata thumbnail_url title type url'))
  expect(fieldsOf(shown.image)).toEqual(fields(blob))
  expect(played).toMatchObject({ type: 'video', width: '640', height: '360' })
  expect(played.html).toContain('<iframe src="https://example.test/v"')
  expect((await server.admin.get(`/api/embeds/${shown.id}`)).body).toEqual(shown)
})

test('a meeting has what it was given, and a code', async () => {
  const given = { provider: 'zoom', provider_id: '5', join_url: 'https://zoom.us/j/123' }
  const meeting = await create(world.ann, '/api/meetings', given)

  expect(fieldsOf(meeting)).toEqual(fields('code created_at id join_url provider provider_id'))
  expect(meeting).toMatchObject({ ...given, code: '123' })
})

test('a blob has its size in bytes and pixels, one from elsewhere what its provider says', async () => {
  const own = await world.blob()
  const raw = { id: 'x', parts: [1] }
  const given = { provider: 'Box', link: 'https://example.test/', name: 'a.png', size: 5, width: '2', height: 1 }
  const external = await create(world.ann, '/api/blobs/external', { ...given, media_type: 'image/png', raw })

  expect(fieldsOf(own)).toEqual(fields(blob))
  expect(own).toMatchObject({ media_type: 'image/png', width: '2', height: '1', size: String(png.length) })
  expect(external).toMatchObject({ name: 'a.png', media_type: 'image/png', width: '2', height: '1', size: '5' })
  expect(JSON.parse(external.raw)).toEqual(raw)
})

test('what a provider knows of its file is shown of one file, and in lists of whole ones', async () => {
  const app = await world.app('files')
  const given = { provider: 'Box', link: 'https://example.test/', name: 'a.pdf', size: 5, raw: { id: 'x' } }
  const blobOf = async () => (await create(world.ann, '/api/blobs/external', given)).id
  const file = await create(world.ann, `/api/apps/${app.id}/files`, { blob_id: await blobOf() })
  const { attachments } = await world.message({ blobs: [await blobOf()] })
  const itemOf = async (path: string) => (await world.ann.get(path)).body.data[0]

  expect((await world.ann.get(`/api/files/${file.id}`)).body.raw).toBe('{"id":"x"}')
  expect(await itemOf(`/api/apps/${app.id}/files?out=details`)).toMatchObject({ id: file.id, raw: '{"id":"x"}' })
  for (const path of [`/api/apps/${app.id}/files`, `/api/files?app=${app.id}`, `/api/files/${file.id}/versions`])
    expect(await itemOf(path)).not.toHaveProperty('raw')
  expect(attachments.data[0]).not.toHaveProperty('raw')
})

test('a token is given with its lifetime, an hour unless it is said', async () => {
  const { admin } = world.server
  const tokens = `/api/users/${world.eve.id}/tokens`

  expect(await create(admin, tokens)).toEqual({ access_token: expect.stringMatching(/^wyu_/), expires_in: '3600' })
  expect((await create(admin, tokens, { expires_in: 60 })).expires_in).toBe('60')
})

test('a star names what was starred', async () => {
  const { ann, message } = world
  const { id } = await message()
  const { body } = await ann.post(`/api/messages/${id}/stars`)

  expect(body).toEqual({ id, type: 'message' })
  expect((await ann.get('/api/stars')).body.data[0]).toEqual({ id, type: 'message' })
})

const forms = [
  ['strings', 'string', {}],
  ['numbers for whoever prefers them', 'number', { prefer: 'scalars=number' }],
] as const

test.each(forms)('integers are %s, and nothing is null or empty', async (_, type, headers) => {
  const { ann, server } = world
  const { app, id } = await world.message({ text: 'Hi', options: [{ text: 'Yes' }] })
  await ann.post(`/api/messages/${id}/reactions`, { content: '🎉' })
  const paths: [Person | typeof server.admin, string][] = [
    [ann, `/api/apps/${app.id}`],
    [ann, '/api/apps?take=100'],
    [ann, `/api/apps/${app.id}/members`],
    [ann, `/api/messages/${id}`],
    [ann, `/api/messages?out=details&take=100`],
    [ann, `/api/messages/${id}/options`],
    [ann, '/api/stars'],
    [ann, '/api/user'],
    [server.admin, '/api/users?take=100'],
    [server.admin, '/api/agents?take=100'],
    [server.admin, '/api/directories?take=100'],
    [server.admin, `/api/blobs/${(await world.blob()).id}`],
  ]

  for (const [who, path] of paths) {
    const { body, headers: received } = await who.get(path, headers)
    expect(received.get('preference-applied')).toBe(type === 'number' ? 'scalars=number' : null)
    for (const [name, value] of flatten(body)) {
      if (/^(id|rev|count|start|end|size|width|height|marked_id|directory_id|max_tokens)$/.test(name))
        expect(typeof value, name).toBe(type)
      if (name.endsWith('_at')) expect(value).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      if (/^(is|has)_|^web_search$/.test(name)) expect(typeof value, name).toBe('boolean')
    }
  }
})

/** Every named value in what was answered, metadata excepted. Complains about what should have been left out. */
function flatten(value: Body, name = ''): [string, unknown][] {
  expect(value, name).not.toBeNull()
  expect(value, name).not.toEqual([])
  if (name === 'metadata') return []
  if (typeof value !== 'object') return [[name, value]]
  return Object.entries(value).flatMap(([key, member]) => flatten(member, Array.isArray(value) ? name : key))
}
