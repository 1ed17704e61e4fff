import { expect, test } from 'vitest'
import { insertAgent } from '../support/agent.ts'
import type { Body } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

const ids = (body: Body) => (body.data ?? []).map((member: { id: string }) => member.id)
const levels = (body: Body) => Object.fromEntries(body.data.map(({ id, access }: Body) => [id, access]))

test('members are listed by name, with what is known of them, read markers where there are messages', async () => {
  await using server = await startServer()
  const [zoe, ann] = [await server.person('Zoe'), await server.person('Ann')]
  await server.admin.patch(`/api/users/${ann.id}`, { comment: 'On leave' })
  const { body: app } = await zoe.post('/api/apps', { type: 'chat', members: [ann.id] })
  const { body: posts } = await zoe.post('/api/apps', { type: 'posts', members: [ann.id] })
  const { body: message } = await ann.post(`/api/apps/${app.id}/messages`, { text: 'hi' })
  await ann.put(`/api/apps/${posts.id}/mark`)

  const { body } = await zoe.get(`/api/apps/${app.id}/members`)

  const marked_at = expect.stringMatching(/Z$/)
  const one = { id: ann.id, uid: ann.uid, name: 'Ann', access: 'write', comment: 'On leave', presence: 'active' }
  const other = { id: zoe.id, uid: zoe.uid, name: 'Zoe', access: 'admin', presence: 'active' }
  expect(body).toEqual({
    data: [{ ...one, marked_at, marked_id: message.id }, other],
    start: '0',
    end: '2',
    count: '2',
  })
  expect((await zoe.get(`/api/apps/${posts.id}/members`)).body.data).toEqual([one, other])
})

test('the list of members is searched, sorted, paged and counted', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const helper = await insertAgent(database.url, 'helper')
  const names = ['Ann Lee', 'Örjan Ek', 'Ben Leeds', 'Eve Ek']
  const people = await Promise.all(names.map(server.person))
  const [ann, orjan, ben, eve] = people.map(({ id }) => id)
  const { body: app } = await server.admin.post('/api/apps', { type: 'chat', members: [ann, orjan, ben, eve, helper] })
  await server.admin.patch(`/api/users/${eve}`, { tags: ['vip'] })
  const list = async (query: string) => (await people[0]!.get(`/api/apps/${app.id}/members?${query}`)).body

  expect(ids(await list('q=lee'))).toEqual([ann, ben])
  expect(ids(await list('q=lee&autocomplete=false'))).toEqual([ann])
  expect(ids(await list('q=orj+EK'))).toEqual([orjan])
  expect(ids(await list('agent=true'))).toEqual([helper])
  expect(ids(await list('agent=false&order_by=id+desc'))).toEqual(
    [ann, orjan, ben, eve].toSorted((a, b) => Number(b) - Number(a)),
  )
  expect(ids(await list('tag=vip&tag=other'))).toEqual([eve])
  expect(await list('skip=1&take=2&order_by=name+desc')).toMatchObject({ start: '1', end: '3', count: '5' })
  expect(await list('count_only=true&q=ek')).toEqual({ count: '2' })
  expect(await list('skip=9')).toEqual({ start: '9', end: '9', count: '5' })
  expect(ids(await list('system=true'))).toContain('0')
  await server.admin.post(`/api/users/${eve}/trash`)
  expect(ids(await list(''))).not.toContain(eve)
  expect(ids(await list('trashed=true'))).toEqual([])
  expect(ids((await server.admin.get(`/api/apps/${app.id}/members?trashed=true`)).body)).toEqual([eve])
  for (const query of ['take=0', 'take=101', 'skip=-1', 'order_by=email', 'member=maybe', 'agent=null', 'trashed=1']) {
    const { status, body } = await people[0]!.get(`/api/apps/${app.id}/members?${query}`)
    expect([query, status, Object.keys(body.errors)]).toEqual([query, 422, [query.split('=')[0]]])
  }
})

test('whoever could become a member is listed with member=false, all who matter with member=null', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const helper = await insertAgent(database.url, 'helper')
  await server.admin.post('/api/directories', { name: 'acme' })
  const [ann, ben, eve, kim] = await Promise.all(['Ann', 'Ben', 'Eve', 'Kim'].map(server.person))
  await server.admin.put('/api/directories/acme/members', [ann!.id, ben!.id, eve!.id])
  const { body: app } = await ann!.post('/api/apps', { type: 'chat', access: 'read', members: [ben!.id] })
  await ann!.put(`/api/apps/${app.id}/members/${eve!.id}`, { access: 'none' })
  const list = async (query: string) => (await ann!.get(`/api/apps/${app.id}/members?${query}`)).body

  const readers = { [helper]: 'read' }
  const members = { [ann!.id]: 'admin', [ben!.id]: 'write', [eve!.id]: 'none' }
  expect(levels(await list('member=false'))).toEqual(readers)
  expect(levels(await list('member=null'))).toEqual({ ...readers, ...members })
  expect(levels(await list('member=true'))).toEqual(members)
  expect(ids(await list('member=null&q=be'))).toEqual([ben!.id])
  expect(ids(await list('member=false&agent=false'))).toEqual([])
  expect(ids(await list('member=false&system=true'))).toEqual([helper, '0'])

  await ann!.patch(`/api/apps/${app.id}`, { access: 'none' })
  expect(levels(await list('member=null'))).toEqual({ ...members, [helper]: 'none' })
  const { body: all } = await server.admin.get(`/api/apps/${app.id}/members?member=false&agent=false`)
  expect(ids(all)).toEqual([kim!.id])
})

test('a detailed app shows its first 25 members, in the order in which they joined, and counts all', async () => {
  await using server = await startServer()
  const people = await Promise.all(Array.from({ length: 30 }, (_, i) => server.person(`Person ${i}`)))
  const { body: app } = await server.admin.post('/api/apps', { type: 'chat_room' })
  const order = people.map(({ id }) => id).toReversed()
  for (let i = 0; i < 30; i += 10) {
    await server.admin.put(
      `/api/apps/${app.id}/members`,
      order.slice(i, i + 10).map(user => ({ user })),
    )
  }

  const { body } = await people[0]!.get(`/api/apps/${app.id}`)

  expect(ids(body.members)).toEqual(order.slice(0, 25))
  expect(body.members).toMatchObject({ start: '0', end: '25', count: '30' })
})

test('a detailed app leaves out who is in the trash, and counts without them', async () => {
  await using server = await startServer()
  const people = await Promise.all(Array.from({ length: 28 }, (_, i) => server.person(`Person ${i}`)))
  const order = people.map(({ id }) => id)
  const { body: app } = await server.admin.post('/api/apps', { type: 'chat_room', members: order })
  const shown = async () => (await people[27]!.get(`/api/apps/${app.id}`)).body.members
  for (const id of order.slice(0, 2)) await server.admin.post(`/api/users/${id}/trash`)

  const without = await shown()
  await server.admin.post(`/api/users/${order[0]}/restore`)
  const restored = await shown()
  await server.admin.delete(`/api/users/${order[1]}`)

  expect([ids(without), without.count]).toEqual([order.slice(2, 27), '26'])
  expect([ids(restored), restored.count]).toEqual([[order[0], ...order.slice(2, 26)], '27'])
  expect((await shown()).count).toBe('27')
  expect((await people[27]!.get(`/api/apps/${app.id}/members?count_only=true`)).body.count).toBe('27')
})

test('a node that starts knows who is in the trash', async () => {
  await using database = await createDatabase()
  await using first = await startServer({ DATABASE_URL: database.url })
  const [ann, ben] = [await first.person('Ann'), await first.person('Ben')]
  const { body: app } = await ann.post('/api/apps', { type: 'chat', members: [ben.id] })
  await first.admin.post(`/api/users/${ben.id}/trash`)

  await using second = await startServer({ DATABASE_URL: database.url })

  const { body } = await second.admin.get(`/api/apps/${app.id}`)
  expect([ids(body.members), body.members.count]).toEqual([[ann.id], '1'])
})
