import { expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { kitOf } from '../support/kit.ts'
import { startServer } from '../support/server.ts'

const chatType = 'd65dd4bc-418e-403c-9f56-f9cf4da931ed'

test('a chat component starts, is read, written in and named, by two people with the same uid', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const [here, there] = [kitOf(ann), kitOf(ben)]

  const app = await here.put('/api/apps/chat-1', { type: chatType, name: 'Chat 1' })
  const again = await here.put('/api/apps/chat-1', { type: chatType, name: 'Chat 1' })
  const joined = await there.put('/api/apps/chat-1', { type: chatType, name: 'Chat 1' })
  const path = `/api/apps/${app.id}`
  const empty = await here.get(`${path}/messages?order_by=id+desc&skip=0`)
  const sent = await there.post(`${path}/messages`, {
    text: 'Hello',
    blobs: [],
    embed_id: null,
    options: [],
    metadata: null,
  })
  await here.put(`${path}/typing`, {})
  const unread = await here.get('/api/apps?count_only=true&unread=true')
  await here.put(`${path}/mark?messageId=${sent.id}`)

  expect(again).toEqual({ ...app, members: expect.anything() })
  expect([app.id, app.rev, joined.id].map(value => typeof value)).toEqual(['number', 'number', 'number'])
  expect(joined).toMatchObject({ id: app.id, type: chatType, permissions: ['list', 'read', 'create'] })
  expect(empty).toEqual({ start: 0, end: 0, count: 0 })
  expect(sent).toMatchObject({
    id: expect.any(Number),
    app: { id: app.id },
    created_by: { id: Number(ben.id), name: 'Ben' },
  })
  expect(unread).toEqual({ count: 1 })
  expect(await here.get('/api/apps?count_only=true&unread=true')).toEqual({ count: 0 })
  const { data: messages } = await here.get(`${path}/messages?order_by=id+desc&skip=0`)
  expect(messages).toEqual([{ ...sent, is_subscribed: true, app: expect.objectContaining({ id: app.id }) }])
  const { data: members } = await here.get(`${path}/members`)
  expect(members).toMatchObject([
    { id: Number(ann.id), marked_id: sent.id },
    { id: Number(ben.id), marked_id: sent.id, access: 'write' },
  ])
  await here.remove(`${path}/mark`)
  expect((await here.get(path)).is_unread).toBe(true)
  expect((await here.get(`${path}/members?member=null&q=be`)).data).toMatchObject([
    { id: Number(ben.id), access: 'write' },
  ])
})

test('a messenger makes rooms and private chats, lists them by activity, and manages their members', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = await Promise.all(['Ann', 'Ben', 'Eve'].map(server.person))
  const here = kitOf(ann!)
  const [benId, eveId] = [Number(ben!.id), Number(eve!.id)]
  const types = ['7e14f418-8f15-46f4-b182-f619b671e470', 'edb400ac-839b-45a7-b2a8-6a01820d1c44'].map(
    type => `type=${type}`,
  )
  const list = () => here.get(`/api/apps?${types.join('&')}&order_by=pinned_at+desc%2Crev+desc&uid=false&q=&skip=0`)

  const pair = await here.post('/api/apps', { type: 'private_chat', members: [benId] })
  const room = await here.post('/api/apps', { type: 'chat_room', members: [benId, eveId] })
  expect([pair.name, room.name]).toEqual(['Ben', 'Ben, Eve'])
  const { id: message } = await here.post(`/api/apps/${pair.id}/messages`, { text: 'hi', blobs: [], options: [] })
  expect((await list()).data).toMatchObject([
    { id: pair.id, last_message: { id: message, created_by: { name: 'Ann' } }, members: { count: 2, data: [{}, {}] } },
    { id: room.id, members: { count: 3 } },
  ])

  await here.put(`/api/apps/${room.id}/pin`)
  expect((await list()).data.map((app: Body) => app.id)).toEqual([room.id, pair.id])
  await here.put(`/api/apps/${room.id}/members/${benId}`, { access: 'admin' })
  await here.put(`/api/apps/${room.id}/members/${benId}`, { access: 'write' })
  await here.remove(`/api/apps/${room.id}/members/${eveId}`, {})
  const { data: candidates } = await here.get(`/api/apps/${room.id}/members?q=&member=false&system=false&skip=0`)
  expect(candidates).toMatchObject([{ id: eveId, access: 'none' }])
  await here.put(`/api/apps/${room.id}/members`, [{ id: eveId, access: 'write' }])
  expect(await here.patch(`/api/apps/${room.id}`, { name: 'Team' })).toMatchObject({ name: 'Team' })
  expect(await here.patch(`/api/apps/${room.id}`, { name: null, picture: null })).toMatchObject({ name: 'Ben, Eve' })
  await here.post(`/api/apps/${pair.id}/remove`)
  await here.remove(`/api/apps/${room.id}/pin`)
  expect((await list()).data.map((app: Body) => app.id)).toEqual([room.id])
})
