import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Body, Client } from '../support/client.ts'
import { create, idsIn } from '../support/content.ts'
import type { Person } from '../support/server.ts'
import { createWorld, type World } from './world.ts'

let world: World
/** As many as fill more than a page. */
let crowd: Person[]
beforeAll(async () => {
  world = await createWorld()
  crowd = await Promise.all(Array.from({ length: 26 }, () => world.server.person()))
})
afterAll(() => world[Symbol.asyncDispose]())

/** Enough for two pages, and one for the trash. */
const items = Array.from({ length: 27 }, (_, i) => i)
const textOf = (i: number) => `Item${i} ${i === 3 ? 'Añejo' : 'fresh'}`
const tagsOf = (i: number) => (i === 4 ? ['four'] : i === 5 ? ['five'] : ['other'])

/** A list of the 27, by whoever sees these and nothing else. */
interface List {
  path: string
  who: Client
  /** In the order in which they were made. */
  ids: string[]
  /** What of the listing parameters makes sense for these. */
  has: { q: boolean; tag: boolean; trashed: boolean }
}

const everything = { q: true, tag: true, trashed: true }

const made = new Map<string, Promise<List>>()

/** What several lists show is made once. */
function once(name: string, make: () => Promise<List>): Promise<List> {
  const known = made.get(name) ?? make()
  made.set(name, known)
  return known
}

async function content(type: string, plural: string, { under = '', everywhere = false } = {}): Promise<List> {
  const list = await once(`${plural} ${type}`, () => write(type, plural, under))
  return everywhere ? { ...list, path: `/api/${plural}` } : list
}

/** All of them by one person in an app that nobody else is in. */
async function write(type: string, plural: string, under: string): Promise<List> {
  const who = await world.server.person()
  const { id: app } = await create(who, '/api/apps', { type })
  const path = under === '' ? `/api/apps/${app}/${plural}` : await parentIn(app, who, under)
  const ids = []
  for (const i of items) ids.push((await create(who, path, { text: textOf(i), tags: tagsOf(i) })).id)
  await create(who, `/api/${plural}/${ids[26]}/trash`)
  return { path, who, ids, has: everything }
}

async function parentIn(app: string, who: Person, under: string): Promise<string> {
  if (under === 'posts')
    return `/api/posts/${(await create(who, `/api/apps/${app}/posts`, { text: 'Hi' })).id}/comments`
  const body = { provider: 'Box', link: 'https://example.test/', name: 'a.txt', size: 5 }
  const { id: blob_id } = await create(who, '/api/blobs/external', body)
  return `/api/files/${(await create(who, `/api/apps/${app}/files`, { blob_id })).id}/comments`
}

async function people(noun: 'users' | 'agents', toPath: (directory: string) => string): Promise<List> {
  const list = await once(noun, () => invite(noun))
  return { ...list, path: toPath(list.path) }
}

/** All of them in one directory, whose id is the path. */
async function invite(noun: 'users' | 'agents'): Promise<List> {
  const { admin } = world.server
  const { id: directory } = await create(admin, '/api/directories', { name: world.name() })
  const agent = noun === 'agents' ? { provider: 'builtin', model: 'm' } : {}
  const ids = []
  for (const i of items) {
    const body = { uid: world.name(), name: textOf(i), tags: tagsOf(i), directories: [directory], ...agent }
    ids.push((await create(admin, `/api/${noun}`, body)).id)
  }
  await create(admin, `/api/${noun}/${ids[26]}/trash`)
  return { path: directory, who: admin, ids, has: everything }
}

async function members(): Promise<List> {
  const { admin } = world.server
  const { ids } = await people('users', () => '')
  const { id: app } = await create(admin, '/api/apps', { type: 'chat', members: ids.slice(0, 26) })
  return { path: `/api/apps/${app}/members`, who: admin, ids, has: { ...everything, trashed: false } }
}

async function apps(): Promise<List> {
  const who = await world.server.person()
  const ids = []
  for (const i of items)
    ids.push((await create(who, '/api/apps', { type: 'chat', name: textOf(i), tags: tagsOf(i) })).id)
  await create(who, `/api/apps/${ids[26]}/trash`)
  return { path: '/api/apps', who, ids, has: everything }
}

async function directories(): Promise<List> {
  const { admin, person } = world.server
  const who = await person()
  const ids = []
  for (const i of items.slice(0, 26)) {
    const { id } = await create(admin, '/api/directories', { name: textOf(i).replace(' ', '-') })
    await admin.put(`/api/directories/${id}/members/${who.id}`)
    ids.push(id)
  }
  return { path: '/api/directories', who, ids, has: { q: true, tag: false, trashed: false } }
}

async function reactions(plural: string): Promise<List> {
  const by = await world.server.person()
  const type = plural === 'messages' ? 'chat' : plural
  const { id: app } = await create(by, '/api/apps', { type, members: crowd.map(({ id }) => id) })
  const { id } = await create(by, `/api/apps/${app}/${plural}`, { text: 'Hi' })
  const path = `/api/${plural}/${id}/reactions`
  await Promise.all(crowd.map((one, i) => create(one, path, { content: i === 3 ? '🎉' : '👍' })))
  return { path, who: by, ids: [], has: { q: false, tag: false, trashed: false } }
}

const lists: [string, () => Promise<List>][] = [
  ['/api/apps', () => once('apps', apps)],
  ['/api/apps/{app}/members', members],
  ['/api/users', () => people('users', directory => `/api/users?directory=${directory}`)],
  ['/api/directories', directories],
  ['/api/directories/{dir}/members', () => people('users', directory => `/api/directories/${directory}/members`)],
  ['/api/agents', () => people('agents', directory => `/api/agents?directory=${directory}`)],
  ['/api/messages', () => content('chat', 'messages', { everywhere: true })],
  ['/api/apps/{app}/messages', () => content('chat', 'messages')],
  ['/api/posts', () => content('posts', 'posts', { everywhere: true })],
  ['/api/apps/{app}/posts', () => content('posts', 'posts')],
  ['/api/comments', () => content('comments', 'comments', { everywhere: true })],
  ['/api/apps/{app}/comments', () => content('comments', 'comments')],
  ['/api/files/{id}/comments', () => content('files', 'comments', { under: 'files' })],
  ['/api/posts/{id}/comments', () => content('posts', 'comments', { under: 'posts' })],
  ['/api/posts/{id}/reactions', () => once('reactions to posts', () => reactions('posts'))],
  ['/api/comments/{id}/reactions', () => once('reactions to comments', () => reactions('comments'))],
  ['/api/messages/{id}/reactions', () => once('reactions to messages', () => reactions('messages'))],
]

describe.each(lists)('GET %s', (_, make) => {
  let list: List
  beforeAll(async () => void (list = await make()))

  const get = async (query: string) => {
    const { path, who } = list
    return who.get(`${path}${path.includes('?') ? '&' : '?'}${query}`)
  }
  const ids = async (query: string) => idsIn({ body: (await get(query)).body })
  const count = async (query: string) => Number((await get(`${query}&count_only=true`)).body.count)

  test('comes in pages of 25, or of 1 to 100', async () => {
    const { body: first } = await get('')
    const { body: second } = await get('skip=25')
    const { body: all } = await get('take=100')

    expect(first).toMatchObject({ start: '0', end: '25', count: '26' })
    expect(first.data).toHaveLength(25)
    expect(second).toMatchObject({ start: '25', end: '26', count: '26' })
    expect([...first.data, ...second.data]).toEqual(all.data)
    expect((await get('skip=1&take=1')).body).toEqual({ data: [all.data[1]], start: '1', end: '2', count: '26' })
    expect((await get('skip=100')).body).toEqual({ start: '100', end: '100', count: '26' })
  })

  test.each(['take=0', 'take=101', 'take=x', 'take=1.5', 'skip=-1', 'skip=x', 'order_by=shoe_size', 'count_only=5'])(
    'refuses %s',
    async query => {
      const { status, body } = await get(query)

      expect(status).toBe(422)
      expect(Object.keys(body.errors)).toEqual([query.split('=')[0]])
    },
  )

  test('is only counted with count_only', async () => {
    expect((await get('count_only=true&take=1')).body).toEqual({ count: '26' })
    expect((await get('count_only=false')).body.data).toHaveLength(25)
  })

  test('is sorted by id, either way', async () => {
    const up = (await get('order_by=id&take=100')).body.data
    const down = (await get('order_by=id+desc&take=100')).body.data

    expect(down).toEqual(up.toReversed())
    expect((await get('order_by=id%20desc')).body.data[0]).toEqual(down[0])
    if (list.ids.length > 0) expect(up.map(({ id }: Body) => id)).toEqual(list.ids.slice(0, 26))
  })

  test('is searched by name', async () => {
    if (!list.has.q) return expect(await count('q=x')).toBe(0)

    expect(await ids('q=anejo')).toEqual([list.ids[3]])
    expect(await count('q=fresh')).toBe(25)
    expect(await count('q=nothing-like-it')).toBe(0)
  })

  test('is narrowed to any of some tags', async () => {
    const { has, ids: made } = list
    if (!has.tag) return expect(await count('tag=four')).toBe(0)

    expect(await ids('tag=four')).toEqual([made[4]])
    expect(await ids('tag=four&tag=five&order_by=id')).toEqual([made[4], made[5]])
    expect(await count('tag=none-such')).toBe(0)
  })

  test('shows what is in the trash when that is asked for', async () => {
    const { has, ids: made } = list

    expect(await count('trashed=false')).toBe(26)
    expect(await count('trashed=null')).toBe(has.trashed ? 27 : 26)
    expect(await ids('trashed=true')).toEqual(has.trashed ? [made[26]] : [])
    expect(await count('trashed=true')).toBe(has.trashed ? 1 : 0)
    expect((await get('trashed=maybe')).status).toBe(422)
  })
})

const emoji = encodeURIComponent('🎉')

test('reactions are filtered by their emoji', async () => {
  const { path, who } = await once('reactions to posts', () => reactions('posts'))

  expect((await who.get(`${path}?content=${emoji}`)).body).toMatchObject({ count: '1', data: [{ content: '🎉' }] })
})

/** Lists that are paged and no more. */
const ranges: [string, () => Promise<[Client, string]>][] = [
  ['/api/stars', stars],
  ['/api/users/{user}/followers', followers],
  ['/api/users/{user}/following', following],
]

async function stars(): Promise<[Client, string]> {
  const { path, who, ids } = await once('apps', apps)
  await Promise.all(ids.slice(0, 26).map(id => create(who, `${path}/${id}/stars`)))
  return [who, '/api/stars']
}

async function followers(): Promise<[Client, string]> {
  const { id } = await world.user()
  await Promise.all(crowd.map(one => create(one, `/api/users/${id}/follow`)))
  return [world.server.admin, `/api/users/${id}/followers`]
}

async function following(): Promise<[Client, string]> {
  const who = await world.server.person()
  await Promise.all(crowd.map(({ id }) => create(who, `/api/users/${id}/follow`)))
  return [who, `/api/users/${who.uid}/following`]
}

test.each(ranges)('GET %s comes in pages', async (_, make) => {
  const [who, path] = await make()

  const { body: first } = await who.get(path)
  const { body: second } = await who.get(`${path}?skip=25&take=100`)
  const { body: all } = await who.get(`${path}?take=100`)

  expect(first).toMatchObject({ start: '0', end: '25', count: '26' })
  expect(second).toMatchObject({ start: '25', end: '26', count: '26' })
  expect([...first.data, ...second.data]).toEqual(all.data)
  expect((await who.get(`${path}?count_only=true`)).body).toEqual({ count: '26' })
  expect((await who.get(`${path}?take=101`)).status).toBe(422)
})

describe('the posts of some apps', () => {
  let who: Person
  let other: Person
  let apps: string[]
  let posts: string[]
  beforeAll(async () => {
    who = await world.server.person()
    other = await world.server.person()
    apps = []
    posts = []
    for (const uid of [world.name(), world.name()]) {
      await create(who, '/api/apps', { type: 'posts', uid, members: [other.id] })
      apps.push(uid)
      for (const by of [who, other]) posts.push((await create(by, `/api/apps/${uid}/posts`, { text: 'Hi' })).id)
    }
  })

  const get = async (query: string) => idsIn(await who.get(`/api/posts?order_by=id&${query}`))

  test('come newest first', async () => {
    expect(idsIn(await who.get('/api/posts'))).toEqual(posts.toReversed())
    expect(idsIn(await who.get(`/api/apps/${apps[0]}/posts`))).toEqual([posts[1], posts[0]])
  })

  test('are narrowed to apps, to ids before and after, and to those by whom one follows', async () => {
    expect(await get(`app=${apps[0]}`)).toEqual(posts.slice(0, 2))
    expect(await get(`app=${apps[0]}&app=${apps[1]}`)).toEqual(posts)
    expect(await get(`before=${posts[2]}`)).toEqual(posts.slice(0, 2))
    expect(await get(`after=${posts[2]}`)).toEqual(posts.slice(3))
    expect(await get(`after=${posts[0]}&before=${posts[3]}`)).toEqual(posts.slice(1, 3))
    expect(await get('following=true')).toEqual([])
    await who.post(`/api/users/${other.id}/follow`)
    expect(await get('following=true')).toEqual([posts[1], posts[3]])
    expect((await who.get(`/api/posts?before=x`)).status).toBe(422)
  })

  test('are shown around one of them, and whole on request', async () => {
    expect(await get(`around=${posts[2]}&take=3`)).toEqual(posts.slice(1))
    expect((await who.get('/api/posts?out=details')).body.data[0]).toMatchObject({
      app: { uid: apps[1] },
      created_by: { id: other.id },
      comments: { count: '0' },
    })
    expect((await who.get('/api/posts?out=summary')).body.data[0]).not.toHaveProperty('app')
    expect((await who.get('/api/posts?out=all')).status).toBe(422)
  })
})

test.each([
  ['messages', 'chat', ''],
  ['comments', 'comments', ''],
  ['comments', 'posts', 'posts'],
  ['comments', 'files', 'files'],
])('%s in an app of type %s are shown around one of them', async (plural, type, under) => {
  const { path, who, ids } = await content(type, plural, { under })

  for (const list of [path, `/api/${plural}`]) {
    const { body } = await who.get(`${list}?around=${ids[12]}&take=5`)
    expect(idsIn({ body })).toEqual(ids.slice(10, 15))
    expect(body).toMatchObject({ start: '10', end: '15', count: '26' })
    expect((await who.get(`${list}?around=999999999`)).status).toBe(404)
  }
})
