import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/client.ts'
import { create } from '../support/content.ts'
import { answer, startReceiver } from '../support/receiver.ts'
import { createWorld, png, type World } from './world.ts'

let world: World
beforeAll(async () => void (world = await createWorld()))
afterAll(() => world[Symbol.asyncDispose]())

/** Every way to name something: what is sent, and what the refusal blames. */
const naming: [string, string, (world: World, name: string) => Promise<Answer>][] = [
  ['an app that is made', 'uid', ({ ann }, uid) => ann.post('/api/apps', { type: 'chat', uid })],
  [
    'an app that is changed',
    'uid',
    async ({ ann, app }, uid) => ann.patch(`/api/apps/${(await app('chat')).id}`, { uid }),
  ],
  [
    'an app that is upserted',
    'uid',
    ({ ann }, uid) => ann.put(`/api/apps/${encodeURIComponent(uid)}`, { type: 'chat' }),
  ],
  ['a user who is made', 'uid', ({ server }, uid) => server.admin.post('/api/users', { uid })],
  [
    'a user who is changed',
    'uid',
    async ({ server, user }, uid) => server.admin.patch(`/api/users/${(await user()).id}`, { uid }),
  ],
  ['a user who is upserted', 'uid', ({ server }, uid) => server.admin.put(`/api/users/${encodeURIComponent(uid)}`, {})],
  [
    'an agent that is changed',
    'uid',
    async ({ server, agent }, uid) => server.admin.patch(`/api/agents/${(await agent()).id}`, { uid }),
  ],
  [
    'an agent that is upserted',
    'uid',
    ({ server }, uid) =>
      server.admin.put(`/api/agents/${encodeURIComponent(uid)}`, { name: 'A', provider: 'openai', model: 'm' }),
  ],
  ['a directory that is made', 'name', ({ server }, name) => server.admin.post('/api/directories', { name })],
  [
    'a directory that is renamed',
    'name',
    async ({ server, directory }, name) => server.admin.patch(`/api/directories/${(await directory()).id}`, { name }),
  ],
]

test.each(naming)('the name of %s has no whitespace and one character that is no digit', async (_, field, call) => {
  for (const name of ['two words', 'tab\tbed', 'line\nbreak', '12345', '7']) {
    const { status, body } = await call(world, name)
    expect([name, status, Object.keys(body.errors ?? {})]).toEqual([name, 422, [field]])
  }
  expect((await call(world, `${world.name()}-5.ü@x`)).status).toBeLessThan(300)
})

test('a uid and the name of a directory belong to one', async () => {
  const { ann, server, app, user, directory } = world
  const { uid } = await app('chat', { uid: world.name() })
  const { uid: taken } = await user()
  const { name } = await directory()

  expect((await ann.post('/api/apps', { type: 'posts', uid })).status).toBe(422)
  expect((await ann.put(`/api/apps/${uid}`, { type: 'posts' })).status).toBe(422)
  expect((await server.admin.post('/api/users', { uid: taken })).status).toBe(422)
  const { status, body } = await server.admin.post('/api/directories', { name })
  expect([status, body.title]).toEqual([409, 'Conflict'])
})

const types = [
  ['agent_chat', '2352a1c6-abc6-420e-8b85-ca7d5aed8779'],
  ['chat', 'd65dd4bc-418e-403c-9f56-f9cf4da931ed'],
  ['chat_room', 'edb400ac-839b-45a7-b2a8-6a01820d1c44'],
  ['comments', '88f96a08-c6c1-4eac-a0bd-5bf8fba1a3fd'],
  ['files', '523edd88-4bbf-4547-b60f-2859a6d2ddc1'],
  ['posts', '5ebfa152-de85-48da-82dd-30a1b560c313'],
  ['private_chat', '7e14f418-8f15-46f4-b182-f619b671e470'],
]

test.each(types)('an app of type %s is asked for by name or guid, and answered as guid', async (name, guid) => {
  const { ann, ben, agent } = world
  const members = name === 'agent_chat' ? [(await agent()).uid] : name === 'private_chat' ? [ben.uid] : []

  for (const type of [name, guid])
    expect(await create(ann, '/api/apps', { type, members })).toMatchObject({ type: guid })
  for (const type of [name, guid]) {
    const { body } = await ann.get(`/api/apps?type=${type}`)
    expect(new Set(body.data.map((app: { type: string }) => app.type))).toEqual(new Set([guid]))
  }
})

test.each(['application/json', 'application/json-patch+json', 'text/json', 'application/vnd.any+json; charset=utf-8'])(
  'a body may be %s',
  async type => {
    const { status, body } = await world.ann.post(
      '/api/apps',
      { type: 'chat', name: 'Typed' },
      { 'content-type': type },
    )

    expect([status, body.name]).toEqual([201, 'Typed'])
  },
)

test.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
  'a body may not be %s',
  async type => {
    const { status, body } = await world.ann.post('/api/apps', { type: 'chat' }, { 'content-type': type })

    expect([status, body.status]).toEqual([415, 415])
  },
)

const iframe = '<iframe src="https://example.test/"></iframe>'

test.each([
  ['one frame', iframe, 201],
  ['two frames', iframe + iframe, 422],
  ['a frame and text', `${iframe} and text`, 422],
  ['another element', '<video src="https://example.test/"></video>', 422],
  ['nothing', '', 422],
])('the html of an embed is %s', async (_, html, status) => {
  for (const type of ['rich', 'video'])
    expect((await world.ann.post('/api/embeds', { type, html })).status).toBe(status)
})

test('a token lasts as long as it is said', async () => {
  const { server, ben } = world
  for (const expires_in of [0, -1, 'x', 1.5]) {
    const { status, body } = await server.admin.post(`/api/users/${ben.id}/tokens`, { expires_in })
    expect([status, Object.keys(body.errors)]).toEqual([422, ['expires_in']])
  }
})

test('a sign-in that matches nobody is 404', async () => {
  const { server, user } = world
  const username = world.name()
  await user({ username, password: 'correct horse' })
  const signIn = async (body: object) => (await server.request('POST', '/api/auth', { body })).status

  expect(await signIn({ username, password: 'correct horse' })).toBe(200)
  expect(await signIn({ username, password: 'wrong horse' })).toBe(404)
  expect(await signIn({ username: 'nobody-at-all', password: 'correct horse' })).toBe(404)
})

describe('a picture', () => {
  const uri = `data:image/png;base64,${png.toString('base64')}`

  test('is given as an address, a data URI or a blob', async () => {
    const { server, blob } = world
    await using site = await startReceiver((_request, response) => void response.end(png))
    const { id } = await blob()

    for (const picture of [site.url, uri, id, Number(id)]) {
      const user = await create(server.admin, '/api/users', { uid: world.name(), picture })
      expect(user.picture).toMatchObject({ media_type: 'image/png', width: '2', height: '1' })
      expect(user.avatar_url).toMatch(/^http/)
    }
  })

  test('is refused where there is none', async () => {
    await using site = await startReceiver(answer(404))
    for (const picture of [site.url, 'no picture', 'data:text/plain;base64,eA==', '999999999']) {
      const { status, body } = await world.server.admin.post('/api/users', { uid: world.name(), picture })
      expect([picture, status, Object.keys(body.errors ?? {})]).toEqual([picture, 422, ['picture']])
    }
  })
})

test('the version is plain text and that of the description', async () => {
  const { request } = world.server
  const version = await request('GET', '/version')
  const { body } = await request('GET', '/api/openapi.json')

  expect(version.headers.get('content-type')).toMatch(/^text\/plain/)
  expect(version.body).toBe('32.1.0')
  expect([body.openapi, body.info.version]).toEqual(['3.1.1', '32.1.0'])
})
