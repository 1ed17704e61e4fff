import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Body, Client } from '../support/client.ts'
import { create, idsIn } from '../support/content.ts'
import { createWorld, type World } from './world.ts'

let world: World
beforeAll(async () => void (world = await createWorld()))
afterAll(() => world[Symbol.asyncDispose]())

/** What can be trashed: how to make one, and where it is listed. */
const trashed: [string, (world: World) => Promise<Body>, string][] = [
  ['apps', ({ app }) => app('chat'), '/api/apps?take=100'],
  ['users', ({ user }) => user(), '/api/users?take=100'],
  ['agents', ({ agent }) => agent(), '/api/agents?take=100'],
  ['messages', ({ message }) => message(), '/api/messages?take=100'],
  ['posts', ({ post }) => post(), '/api/posts?take=100'],
  ['comments', ({ comment }) => comment(), '/api/comments?take=100'],
]

test.each(trashed)('%s go to the trash, come back, and are deleted from either', async (plural, make, list) => {
  const { admin } = world.server
  const [one, other] = [await make(world), await make(world)]
  const path = `/api/${plural}/${one.id}`
  const listed = async (query: string) => idsIn(await admin.get(`${list}&${query}`)).includes(one.id)
  const where = async () => ({
    active: await listed('trashed=false'),
    trashed: await listed('trashed=true'),
    either: await listed('trashed=null'),
    status: (await admin.get(path)).status,
    inTrash: (await admin.get(`${path}?trashed=true`)).body.is_trashed,
  })

  expect(await where()).toEqual({ active: true, trashed: false, either: true, status: 200, inTrash: false })
  expect((await admin.post(`${path}/trash`)).status).toBe(204)
  expect(await where()).toEqual({ active: false, trashed: true, either: true, status: 404, inTrash: true })
  expect((await admin.post(`${path}/restore`)).status).toBe(204)
  expect(await where()).toEqual({ active: true, trashed: false, either: true, status: 200, inTrash: false })
  await admin.post(`${path}/trash`)
  expect((await admin.delete(path)).status).toBe(204)
  expect((await admin.delete(`/api/${plural}/${other.id}`)).status).toBe(204)
  for (const { id } of [one, other]) expect((await admin.get(`/api/${plural}/${id}?trashed=true`)).status).toBe(404)
  expect(await listed('trashed=null')).toBe(false)
})

test('a deleted app takes all its content along', async () => {
  const { message, file, comment, server } = world
  for (const [plural, { id, app }] of [
    ['messages', await message()],
    ['files', await file()],
    ['comments', await comment()],
  ] as const) {
    await server.admin.delete(`/api/apps/${app.id}`)
    expect((await server.admin.get(`/api/${plural}/${id}`)).status).toBe(404)
  }
})

test('what a deleted user or agent wrote stays', async () => {
  const { server, agent } = world
  const app = await create(server.admin, '/api/apps', { type: 'chat' })
  for (const [plural, { id }] of [
    ['users', await server.person()],
    ['agents', await agent()],
  ] as const) {
    await server.admin.put(`/api/apps/${app.id}/members/${id}`)
    const { access_token: token } = await create(server.admin, `/api/users/${id}/tokens`)
    const { body: written } = await server.request('POST', `/api/apps/${app.id}/messages`, {
      token,
      body: { text: 'Hi' },
    })
    expect(written.created_by.id).toBe(id)

    await server.admin.delete(`/api/${plural}/${id}`)

    expect((await server.admin.get(`/api/messages/${written.id}`)).body).toMatchObject({ text: 'Hi' })
  }
})

/** What somebody sets for themselves: the way there and back, and the member that tells. */
const settings: [string, string, [string, string], [string, string]][] = [
  ['a pinned app', 'is_pinned', ['PUT', 'pin'], ['DELETE', 'pin']],
  ['a starred app', 'is_starred', ['POST', 'stars'], ['DELETE', 'stars']],
]

test.each(settings)('%s is so for whoever says so', async (_, field, there, back) => {
  const { ann, ben, app } = world
  const path = `/api/apps/${(await app('chat')).id}`
  const seen = async () => [(await ann.get(path)).body[field], (await ben.get(path)).body[field]]

  expect(await seen()).toEqual([false, false])
  await ann.request(there[0], `${path}/${there[1]}`)
  await ann.request(there[0], `${path}/${there[1]}`)
  expect(await seen()).toEqual([true, false])
  await ann.request(back[0], `${path}/${back[1]}`)
  expect(await seen()).toEqual([false, false])
})

test('an archived app is out of the list of those that are not', async () => {
  const { ann, app } = world
  const { id } = await app('chat')
  const isIn = async (query: string) => idsIn(await ann.get(`/api/apps?take=100&${query}`)).includes(id)
  const where = async () => [await isIn('archived=true'), await isIn('archived=false'), await isIn('')]

  expect(await where()).toEqual([false, true, true])
  await ann.put(`/api/apps/${id}/archive`)
  expect(await where()).toEqual([true, false, true])
  await ann.delete(`/api/apps/${id}/archive`)
  expect(await where()).toEqual([false, true, true])
})

test('a read marker stands at a message, at the last one, or nowhere', async () => {
  const { ann, ben, app } = world
  const { id } = await app('chat')
  const [first, last] = [
    await create(ann, `/api/apps/${id}/messages`, { text: 'One' }),
    await create(ann, `/api/apps/${id}/messages`, { text: 'Two' }),
  ]
  const seen = async () => {
    const { body } = await ben.get(`/api/apps/${id}/members?order_by=id`)
    const { marked_id, marked_at } = body.data.find((item: Body) => item.id === ben.id)
    return [marked_id, marked_at === undefined, (await ben.get(`/api/apps/${id}`)).body.is_unread]
  }
  const isListed = async (unread: boolean) => idsIn(await ben.get(`/api/apps?unread=${unread}&take=100`)).includes(id)

  expect(await seen()).toEqual([undefined, true, true])
  await ben.put(`/api/apps/${id}/mark?message_id=${first.id}`)
  expect(await seen()).toEqual([first.id, false, true])
  await ben.put(`/api/apps/${id}/mark`)
  expect(await seen()).toEqual([last.id, false, false])
  expect([await isListed(true), await isListed(false)]).toEqual([false, true])
  await ben.delete(`/api/apps/${id}/mark`)
  expect(await seen()).toEqual([undefined, true, true])
  expect([await isListed(true), await isListed(false)]).toEqual([true, false])
  expect((await ben.put(`/api/apps/${id}/mark?message_id=999999999`)).status).toBe(404)
})

const starrable: [string, (world: World) => Promise<Body>][] = [
  ['messages', ({ message }) => message()],
  ['posts', ({ post }) => post()],
  ['comments', ({ comment }) => comment()],
  ['files', ({ file }) => file()],
]

test.each(starrable)('%s are starred and not', async (plural, make) => {
  const { ann, ben } = world
  const path = `/api/${plural}/${(await make(world)).id}`
  const isStarred = async (who: Client) => (await who.get(path)).body.is_starred

  await ann.post(`${path}/stars`)
  expect([await isStarred(ann), await isStarred(ben)]).toEqual([true, false])
  await ann.delete(`${path}/stars`)
  expect(await isStarred(ann)).toBe(false)
})

test.each(starrable.slice(0, 3))(
  '%s are reacted to by one emoji each, which can be taken back',
  async (plural, make) => {
    const { ann } = world
    const path = `/api/${plural}/${(await make(world)).id}/reactions`
    const contents = async () => (await ann.get(path)).body.data?.map(({ content }: Body) => content)

    await ann.post(path, { content: '👍' })
    await ann.post(path, { content: '🎉' })
    expect(await contents()).toEqual(['🎉'])
    expect((await ann.delete(path, {})).status).toBe(204)
    expect(await contents()).toBeUndefined()
    for (const content of ['', 'a', '1', '🎉🎉', '🎉 ', ':tada:'])
      expect((await ann.post(path, { content })).status).toBe(422)
    for (const content of ['❤️', '👩🏽‍🚀', '🇸🇪', '1️⃣']) expect((await ann.post(path, { content })).status).toBe(204)
  },
)

test('a vote is given and shows', async () => {
  const { ann, post } = world
  const { options } = await post({ text: 'Which?', options: [{ text: 'This' }, { text: 'That' }] })
  const [one] = options.data

  expect(one).toMatchObject({ text: 'This', has_voted: false })
  expect((await ann.post(`/api/options/${one.id}/vote`)).body).toMatchObject({ has_voted: true, votes: { count: '1' } })
  expect((await ann.get(`/api/options/${one.id}`)).body.has_voted).toBe(true)
})

test('a user becomes a member with write access unless it is said, and stops being one', async () => {
  const { ann, app, user } = world
  const { id } = await app('chat')
  const [one, two] = [await user(), await user()]
  const access = async () => {
    const { data } = (await ann.get(`/api/apps/${id}/members?order_by=id`)).body
    return data.map((item: Body) => item.access).slice(2)
  }

  expect((await ann.put(`/api/apps/${id}/members/${one.uid}`)).body.access).toBe('write')
  await ann.put(`/api/apps/${id}/members`, [{ user: one.id, access: 'none' }, { user: two.uid }])
  expect(await access()).toEqual(['none', 'write'])
  await ann.delete(`/api/apps/${id}/members/${one.id}`)
  await ann.delete(`/api/apps/${id}/members`, [two.uid])
  expect(await access()).toEqual([])
})

test('a removed private chat is gone for whoever removed it, with what was said', async () => {
  const { server } = world
  const [one, two] = [await server.person(), await server.person()]
  const { id } = await create(one, '/api/apps', { type: 'private_chat', members: [two.id] })
  const { id: said } = await create(two, `/api/apps/${id}/messages`, { text: 'before' })

  expect((await one.post(`/api/apps/${id}/remove`)).status).toBe(204)

  expect(idsIn(await one.get('/api/apps'))).toEqual([])
  expect(idsIn(await two.get('/api/apps'))).toEqual([id])
  const { id: later } = await create(two, `/api/apps/${id}/messages`, { text: 'after' })
  expect(idsIn(await one.get('/api/apps'))).toEqual([id])
  expect(idsIn(await one.get(`/api/apps/${id}/messages`))).toEqual([later])
  expect(idsIn(await two.get(`/api/apps/${id}/messages`))).toEqual([said, later])
})

test('all tokens of a user are revoked at once', async () => {
  const { server } = world
  const { id, token } = await server.person()
  const { access_token: second } = await create(server.admin, `/api/users/${id}/tokens`)

  await server.admin.delete(`/api/users/${id}/tokens`)

  for (const one of [token, second]) expect((await server.request('GET', '/api/user', { token: one })).status).toBe(401)
})
