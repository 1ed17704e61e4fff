import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { kitOf, shapes, type Kit } from '../support/kit.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

const guid = {
  agentChat: '2352a1c6-abc6-420e-8b85-ca7d5aed8779',
  chat: 'd65dd4bc-418e-403c-9f56-f9cf4da931ed',
  room: 'edb400ac-839b-45a7-b2a8-6a01820d1c44',
  pair: '7e14f418-8f15-46f4-b182-f619b671e470',
}
const conversations = `type=${guid.room}&type=${guid.pair}`
const byActivity = 'order_by=pinned_at+desc%2Crev+desc&uid=false'

describe('what the UI kit asks for about conversations', () => {
  let server: Server
  let assistant: number
  let ann: Person
  let ben: Person
  let eve: Person
  let here: Kit
  let there: Kit
  beforeAll(async () => {
    server = await startServer()
    const agent = { uid: 'assistant', name: 'Assistant', provider: 'openai', model: 'small' }
    assistant = Number((await server.admin.post('/api/agents', agent)).body.id)
  })
  // New people for each test, who start without conversations.
  beforeEach(async () => {
    ;[ann, ben, eve] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
    ;[here, there] = [kitOf(ann), kitOf(ben)]
  })
  afterAll(() => server[Symbol.asyncDispose]())

  const idOf = ({ id }: Person) => Number(id)
  const send = (from: Kit, app: number, text: string) =>
    from.post(`/api/apps/${app}/messages`, { text, blobs: [], embed_id: null, options: [], metadata: null })
  const unreadOf = async (kit: Kit) =>
    (await kit.get(`/api/apps?count_only=true&unread=true&uid=false&${conversations}`)).count

  test('conversations come with members and last message, by activity, pinned ones first', async () => {
    const pair = await here.post('/api/apps', { type: 'private_chat', members: [idOf(ben)] })
    const room = await here.post('/api/apps', { type: 'chat_room', members: [idOf(ben), idOf(eve)] })
    const chat = await here.put(`/api/apps/list-${ann.id}`, { type: guid.chat, name: 'Not a conversation' })
    const sent = await send(there, pair.id, 'Hello')
    const list = (query = '') => here.list(`/api/apps?${conversations}&${byActivity}&skip=0${query}`)
    const ids = async (query = '') => (await list(query)).map(({ id }) => id)

    const items = (await list()).map(item => shapes.Conversation.parse(item))
    expect(items.map(({ id, name }) => [id, name])).toEqual([
      [pair.id, 'Ben'],
      [room.id, 'Ben, Eve'],
    ])
    expect(items[0]).toMatchObject({
      is_unread: true,
      last_message: { id: sent.id, plain: 'Hello', created_by: { id: idOf(ben), name: 'Ben' } },
      members: { count: 2, data: [{ id: idOf(ann) }, { id: idOf(ben), presence: expect.any(String) }] },
    })
    expect(items[1]).not.toHaveProperty('last_message')
    expect(items[0]!.rev).toBeGreaterThan(items[1]!.rev)

    await here.put(`/api/apps/${room.id}/pin`)
    expect(await ids()).toEqual([room.id, pair.id])
    expect((await list())[0].is_pinned).toBe(true)
    await here.remove(`/api/apps/${room.id}/pin`)
    await send(there, room.id, 'And all')
    expect(await ids()).toEqual([room.id, pair.id])
    expect(await ids('&q=eve')).toEqual([room.id])
    expect(await ids('&q=')).toHaveLength(2)
    expect(await ids(`&member=${eve.uid}`)).toEqual([room.id])
    expect(await ids(`&member=${eve.id}`)).toEqual([room.id])
    expect((await here.list('/api/apps?uid=true')).map(({ id }) => id)).toEqual([chat.id])
  })

  test('computed names are never empty: the others in a conversation, oneself where there is nobody', async () => {
    const pair = await here.post('/api/apps', { type: 'private_chat', members: [idOf(ben)] })
    const alone = await here.post('/api/apps', { type: 'chat_room', members: [] })
    const self = await here.post('/api/apps', { type: 'private_chat', members: [idOf(ann)] })

    expect([pair.name, alone.name, self.name]).toEqual(['Ben', 'Ann', 'Ann'])
    expect((await there.get(`/api/apps/${pair.id}`)).name).toBe('Ann')
    expect(await here.patch(`/api/apps/${alone.id}`, { name: 'Notes' })).toMatchObject({ name: 'Notes' })
    expect(await here.patch(`/api/apps/${alone.id}`, { name: null })).toMatchObject({ name: 'Ann' })
    await here.put(`/api/apps/${alone.id}/members`, [{ id: idOf(eve), access: 'write' }])
    expect(await here.get(`/api/apps/${alone.id}`)).toMatchObject({ name: 'Eve' })
  })

  test('unread is what others wrote after the marker; the badge counts such conversations', async () => {
    const { id } = await here.post('/api/apps', { type: 'private_chat', members: [idOf(ben)] })
    const isUnread = async (kit: Kit) => (await kit.get(`/api/apps/${id}`)).is_unread
    const both = async () => [await isUnread(here), await isUnread(there)]

    expect(await both()).toEqual([false, false])
    const first = await send(here, id, 'One')
    expect(await both()).toEqual([false, true])
    expect([await unreadOf(here), await unreadOf(there)]).toEqual([0, 1])
    await there.put(`/api/apps/${id}/mark?messageId=${first.id}`)
    expect(await both()).toEqual([false, false])
    const second = await send(here, id, 'Two')
    await there.put(`/api/apps/${id}/mark?messageId=${first.id}`)
    expect([await isUnread(there), await unreadOf(there)]).toEqual([true, 1])
    await there.put(`/api/apps/${id}/mark?messageId=${second.id}`)
    await there.remove(`/api/apps/${id}/mark`)
    expect([await isUnread(there), await unreadOf(there)]).toEqual([true, 1])
    await send(there, id, 'Three')
    expect(await both()).toEqual([true, false])
  })

  test('read receipts are in the list of members, which holds the caller and is read again after each mark', async () => {
    const { id } = await here.post('/api/apps', { type: 'chat_room', members: [idOf(ben), assistant] })
    const sent = await send(here, id, 'Read?')
    const receipts = async () =>
      (await here.list(`/api/apps/${id}/members`)).map(member => shapes.Member.parse(member).marked_id)

    expect(await receipts()).toEqual([sent.id, undefined, undefined])
    await there.put(`/api/apps/${id}/mark?messageId=${sent.id}`)
    expect(await receipts()).toEqual([sent.id, undefined, sent.id])
    await there.remove(`/api/apps/${id}/mark`)
    expect(await receipts()).toEqual([sent.id, undefined, undefined])
    expect(await here.list(`/api/apps/${id}/members`)).toMatchObject([
      { id: idOf(ann), access: 'admin' },
      { id: assistant, access: 'write', is_agent: true, uid: 'assistant' },
      { id: idOf(ben), access: 'write' },
    ])
  })

  test('a conversation that was removed is gone until somebody writes, an agent chat goes to the trash', async () => {
    const { id } = await here.post('/api/apps', { type: 'private_chat', members: [idOf(ben)] })
    await send(there, id, 'Before')
    const mine = async () => (await here.list(`/api/apps?${conversations}&${byActivity}`)).map(app => app.id)

    await here.post(`/api/apps/${id}/remove`)
    expect([await mine(), await unreadOf(here)]).toEqual([[], 0])
    await send(there, id, 'After')
    expect([await mine(), await unreadOf(here)]).toEqual([[id], 1])

    const agentChat = await here.post('/api/apps', { type: 'agent_chat', members: ['assistant'] })
    await here.post(`/api/apps/${agentChat.id}/trash`)
    expect(await here.list(`/api/apps?member=assistant&type=${guid.agentChat}&${byActivity}`)).toEqual([])
  })

  test('mentions are looked for among everybody with access and in sight; who has none is greyed out', async () => {
    const { id } = await here.post('/api/apps', { type: 'chat_room', members: [idOf(ben)] })
    const found = async (q: string) => {
      const people = await here.list(`/api/apps/${id}/members?member=null&q=${q}`)
      return people.map(person => [person.id, shapes.Member.parse(person).access])
    }

    expect(await found('be')).toContainEqual([idOf(ben), 'write'])
    expect(await found('ev')).toContainEqual([idOf(eve), 'none'])
    expect(await found('assi')).toEqual([[assistant, 'none']])
  })

  test('members are added from those who are none, made admins, removed, and may leave', async () => {
    const { id } = await here.post('/api/apps', { type: 'chat_room', members: [idOf(ben)] })
    const candidates = async (query: string) =>
      (await here.list(`/api/apps/${id}/members?q=${query}&member=false&system=false&skip=0`)).map(one => one.id)

    expect(await candidates(eve.uid)).toEqual([idOf(eve)])
    expect(await candidates(ben.uid)).toEqual([])
    expect(await candidates('&agent=true')).toEqual([assistant])
    expect(await candidates('assi&agent=false')).toEqual([])
    await here.put(`/api/apps/${id}/members`, [{ id: idOf(eve), access: 'write' }])
    await here.put(`/api/apps/${id}/members/${ben.id}`, { access: 'admin' })
    await there.put(`/api/apps/${id}/members/${ann.id}`, { access: 'write' })
    expect((await here.list(`/api/apps/${id}/members`)).map(({ id, access }) => [id, access])).toEqual([
      [idOf(ann), 'write'],
      [idOf(ben), 'admin'],
      [idOf(eve), 'write'],
    ])
    await there.remove(`/api/apps/${id}/members/${eve.id},${ann.id}`)
    await there.remove(`/api/apps/${id}/members/${ben.id}`)
    expect((await there.ask('GET', `/api/apps/${id}`)).status).toBe(404)
  })

  test('messages come newest first and whole, page after page until the end is the count', async () => {
    const { id } = await here.post('/api/apps', { type: 'private_chat', members: [idOf(ben)] })
    const blob = await here.upload('a.txt', 'text')
    await here.post(`/api/apps/${id}/messages`, {
      text: '',
      blobs: [blob.id],
      embed_id: null,
      options: [],
      metadata: null,
    })
    for (let i = 1; i <= 25; i++) await send(here, id, `${i}`)
    const pages: Body[] = []

    for (let skip = 0; ; skip = pages.at(-1).end) {
      pages.push(await there.get(`/api/apps/${id}/messages?order_by=id+desc&skip=${skip}`))
      const { end, count } = pages.at(-1)
      if (end === 0 || end >= count) break
    }

    const messages = pages.flatMap(({ data }) => data.map((item: Body) => shapes.Message.parse(item)))
    expect(pages.map(({ start, end, count }) => [start, end, count])).toEqual([
      [0, 25, 26],
      [25, 26, 26],
    ])
    expect(messages.map(({ id }) => id)).toEqual(messages.map(({ id }) => id).sort((a, b) => b - a))
    expect(messages.at(-1)).toMatchObject({ attachments: { count: 1, data: [{ name: 'a.txt', size: 4 }] } })
    expect(messages.at(-1)).not.toHaveProperty('updated_at')
  })

  test('reactions are shown whole, with whose they are', async () => {
    const { id } = await here.post('/api/apps', { type: 'private_chat', members: [idOf(ben)] })
    const sent = await send(here, id, 'Nice?')
    const path = `/api/messages/${sent.id}/reactions`

    await there.post(path, { content: '😍' })
    await here.post(path, { content: '👍' })
    const [message] = await here.list(`/api/apps/${id}/messages?order_by=id+desc&skip=0`)
    const sheet = await here.list(path)
    await here.remove(path, {})

    const whose = [
      { content: '😍', created_by: { id: idOf(ben), name: 'Ben' } },
      { content: '👍', created_by: { id: idOf(ann), name: 'Ann' } },
    ]
    expect(shapes.Message.parse(message).reactions).toMatchObject({ count: 2, data: whose })
    expect(sheet).toMatchObject(whose)
    expect((await here.get(`/api/messages/${sent.id}`)).reactions.data).toMatchObject([whose[0]])
  })

  test('who types is present; what a refusal says is a problem with a number as its status', async () => {
    const { id } = await here.post('/api/apps', { type: 'private_chat', members: [idOf(ben)] })

    await here.put(`/api/apps/${id}/typing`, {})
    const refused = await here.ask('POST', `/api/apps/${id}/messages`, { text: '', blobs: [], options: [] })

    expect(refused).toMatchObject({ status: 422, body: { status: 422, title: 'Validation Failed' } })
    await eventually(async () => {
      const members = await there.list(`/api/apps/${id}/members`)
      expect(members.find(member => member.id === idOf(ann))).toMatchObject({ presence: 'active' })
    })
  })
})
