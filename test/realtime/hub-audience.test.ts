import { expect, test } from 'vitest'
import { create } from '../support/content.ts'
import { joinHub } from '../support/hub.ts'
import { startServer } from '../support/server.ts'

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
