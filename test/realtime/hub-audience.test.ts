import { expect, test } from 'vitest'
import { create } from '../support/content.ts'
import { joinHub } from '../support/hub.ts'
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

test.each(comings)('whoever subscribed to an app hears of it again who %s', async (_, lose, regain) => {
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

test('whoever subscribed to an app hears of it again when it comes out of the trash', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await using hub = await joinHub(server.url, { token: () => ben.token })
  await hub.subscribe(`a${app}:message_created`)

  await server.admin.post(`/api/apps/${app}/trash`)
  await server.admin.post(`/api/apps/${app}/restore`)
  await create(ann, `/api/apps/${app}/messages`, { text: 'seen' })

  expect((await hub.hear(`a${app}:message_created`)).message.text).toBe('seen')
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
