import { expect, test } from 'vitest'
import { create } from '../support/content.ts'
import { eventually } from '../support/eventually.ts'
import { joinHub } from '../support/hub.ts'
import { startPair } from '../support/pair.ts'
import { listen } from '../support/realtime.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

test('the messages of an app are told without asking to those alone who have it in their lists', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(3)
  const [ann, ben, eve] = people
  const { id: open } = await create(ann, '/api/apps', { type: 'chat', access: 'write' })
  await server.admin.put(`/api/apps/${app}/members/${ben.id}`, { access: 'none' })
  await eve.put(`/api/apps/${open}/pin`)
  const { id: common } = await create(ann, '/api/apps', { type: 'chat_room', members: [ben.id, eve.id] })
  await using bens = await joinHub(server.url, { token: () => ben.token })
  await using eves = await joinHub(server.url, { token: () => eve.token })
  for (const hub of [bens, eves]) await hub.subscribe('message_created')

  for (const room of [app, open, common]) await create(ann, `/api/apps/${room}/messages`, { text: `in ${room}` })
  const isLast = ({ message }: { message: { text: string } }) => message.text === `in ${common}`
  for (const hub of [bens, eves]) await hub.hear('message_created', isLast)

  expect(bens.told).toEqual([])
  expect(eves.told.map(({ payload }) => payload.message.text)).toEqual([`in ${app}`])
})

interface Scene {
  admin: Server['admin']
  path: string
  ben: Person
}

const comings: [way: string, lose: (scene: Scene) => unknown, regain: (scene: Scene) => unknown][] = [
  [
    'was removed and is added again',
    ({ admin, path, ben }) => admin.delete(`${path}/members/${ben.id}`),
    ({ admin, path, ben }) => admin.put(`${path}/members/${ben.id}`),
  ],
  [
    'may see it again',
    ({ admin, path, ben }) => admin.put(`${path}/members/${ben.id}`, { access: 'none' }),
    ({ admin, path, ben }) => admin.put(`${path}/members/${ben.id}`, { access: 'read' }),
  ],
  [
    'may read it again because all may',
    ({ admin, path, ben }) => admin.delete(`${path}/members/${ben.id}`),
    ({ admin, path }) => admin.patch(path, { access: 'read' }),
  ],
]

test.each(comings)('a user subscribed to an app gets its events again who %s', async (_, lose, regain) => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { id: app } = await create(ann, '/api/apps', { type: 'chat', members: [ben.id] })
  const [path, name] = [`/api/apps/${app}`, `a${app}:message_created`]
  await using hub = await joinHub(server.url, { token: () => ben.token })
  await hub.subscribe(name)

  await lose({ admin: server.admin, path, ben })
  await create(ann, `${path}/messages`, { text: 'unseen' })
  const isAgain = await hub.connection.invoke('Subscribe', name)
  await regain({ admin: server.admin, path, ben })
  await create(ann, `${path}/messages`, { text: 'seen' })
  const { message } = await hub.hear(name)

  expect(isAgain).toBe(false)
  expect(message.text).toBe('seen')
})

test.each(comings)(
  'through another node, nothing of what came between is told to whoever %s',
  async (_, lose, regain) => {
    await using pair = await startPair({ hasRedis: false })
    const { here, there } = pair
    const [ann, ben] = [await here.person('Ann'), await here.person('Ben')]
    const { id: app } = await create(ann, '/api/apps', { type: 'chat', members: [ben.id] })
    const [path, name] = [`/api/apps/${app}`, `a${app}:message_created`]
    await using hub = await joinHub(there.url, { token: () => ben.token })
    await hub.subscribe(name)

    await lose({ admin: here.admin, path, ben })
    await eventually(async () => expect(await hub.connection.invoke('Subscribe', name)).toBe(false))
    // The other node has just looked, so it finds all of this at once.
    await create(ann, `${path}/messages`, { text: 'unseen' })
    await regain({ admin: here.admin, path, ben })
    await create(ann, `${path}/messages`, { text: 'seen' })
    const { message } = await hub.hear(name)

    expect(message.text).toBe('seen')
  },
)

test('a user subscribed to an app gets its events again when it comes out of the trash', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await using hub = await joinHub(server.url, { token: () => ben.token })
  await hub.subscribe(`a${app}:message_created`)

  await server.admin.post(`/api/apps/${app}/trash`)
  await server.admin.post(`/api/apps/${app}/restore`)
  await create(ann, `/api/apps/${app}/messages`, { text: 'seen' })

  expect((await hub.hear(`a${app}:message_created`)).message.text).toBe('seen')
})

test('who is kept out of an app is not told of being added to it', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { id: closed } = await create(ann, '/api/apps', { type: 'chat_room', name: 'Closed' })
  const { id: open } = await create(ann, '/api/apps', { type: 'chat_room' })
  await using hub = await joinHub(server.url, { token: () => ben.token })
  await hub.subscribe('member_added')

  await ann.put(`/api/apps/${closed}/members`, [{ id: Number(ben.id), access: 'none' }])
  await ann.put(`/api/apps/${open}/members`, [{ id: Number(ben.id), access: 'read' }])
  await hub.hear('member_added', ({ app }) => app.id === Number(open))

  expect(hub.told).toEqual([])
})

test('whoever gets to see an app that was there before hears of it like of a new one, on every node', async () => {
  await using pair = await startPair({ hasRedis: true })
  const { here, there } = pair
  const [ann, ben] = [await here.person('Ann'), await here.person('Ben')]
  await using near = await joinHub(here.url, { token: () => ben.token })
  await using far = await joinHub(there.url, { token: () => ben.token })
  await using inbox = await listen(there.url, { token: ben.token })
  const hubs = [near, far]
  for (const hub of hubs) for (const name of ['app_created', 'member_added']) await hub.subscribe(name)
  const hearOnBoth = async (name: string) => await Promise.all(hubs.map(hub => hub.hear(name)))

  const { id: room } = await create(ann, '/api/apps', { type: 'chat_room', members: [ben.id] })
  await hearOnBoth('app_created')
  const as = (access: string) => ann.put(`/api/apps/${room}/members/${ben.id}`, { access })
  await as('none')
  await inbox.hear('app_removed')
  for (const access of ['read', 'write']) await as(access)
  const admitted = await hearOnBoth('member_added')
  await ann.post(`/api/apps/${room}/trash`)
  await inbox.hear('app_removed')
  await ann.post(`/api/apps/${room}/restore`)
  const restored = await hearOnBoth('app_created')
  const { id: chat } = await create(ann, '/api/apps', { type: 'private_chat', members: [ben.id] })
  await hearOnBoth('app_created')
  await ben.post(`/api/apps/${chat}/remove`)
  await inbox.hear('app_removed')
  await ben.post('/api/apps', { type: 'private_chat', members: [ann.id] })
  const madeAgain = await hearOnBoth('app_created')
  await ben.put(`/api/apps/${chat}/pin`)
  await create(ann, '/api/apps', { type: 'chat_room', members: [ben.id] })
  await hearOnBoth('app_created')

  const news = (action: string, by: Person, app: string) => ({ action, actor: { id: +by.id }, app: { id: +app } })
  expect(admitted).toMatchObject(hubs.map(() => ({ ...news('member_added', ann, room), member: { id: +ben.id } })))
  expect(restored).toMatchObject(hubs.map(() => news('app_created', ann, room)))
  expect(madeAgain).toMatchObject(hubs.map(() => news('app_created', ben, chat)))
  expect(hubs.map(({ told }) => told)).toEqual([[], []])
})
