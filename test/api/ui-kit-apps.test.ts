import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { kitHeaders, kitOf, shapes, type Kit } from '../support/kit.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

const guid = {
  agentChat: '2352a1c6-abc6-420e-8b85-ca7d5aed8779',
  chat: 'd65dd4bc-418e-403c-9f56-f9cf4da931ed',
}
const byActivity = 'order_by=pinned_at+desc%2Crev+desc&uid=false'

describe('what the UI kit asks for about apps, agents and people', () => {
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

  test('a component starts with the version, without a token, and with its user', async () => {
    const version = await server.request('GET', '/version', { headers: kitHeaders })
    const user = await here.get('/api/user')

    expect([version.status, version.body]).toEqual([200, expect.stringMatching(/^\d+\.\d+\.\d+$/)])
    expect(version.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(shapes.User.parse(user)).toMatchObject({ id: idOf(ann), name: 'Ann', uid: ann.uid })
  })

  test('an upsert is repeated on every load, by whomever, and changes neither rev nor name', async () => {
    const uid = `chat-${ann.id}`
    const component = { type: guid.chat, name: 'Chat', directory: undefined }

    const made = await here.ask('PUT', `/api/apps/${uid}`, component)
    const again = await here.ask('PUT', `/api/apps/${uid}`, component)
    const joined = await there.ask('PUT', `/api/apps/${uid}`, component)
    const renamed = await here.put(`/api/apps/${uid}`, { type: guid.chat, name: 'Other name' })
    const back = await there.put(`/api/apps/${uid}`, { type: guid.chat, name: 'Chat' })
    const byId = await here.get(`/api/apps/${made.body.id}`)

    expect([made.status, again.status, joined.status]).toEqual([201, 200, 200])
    for (const { body } of [made, again, joined]) shapes.App.parse(body)
    expect(again.body).toMatchObject({ rev: made.body.rev, permissions: made.body.permissions })
    expect(joined.body.permissions).toContain('create')
    // Who may not rename it gets the name that it has, and asks with that.
    expect([renamed.name, back.name]).toEqual(['Other name', 'Other name'])
    expect(byId).toMatchObject({ id: made.body.id, uid, type: guid.chat })
    expect((await there.ask('GET', '/api/apps/not-there')).status).toBe(404)
  })

  test('an escaped uid is the same uid, and what nobody may see is not there rather than forbidden', async () => {
    const uid = `plan:${ann.id}@a.b~c`
    const { id } = await here.put(`/api/apps/${encodeURIComponent(uid)}`, { type: guid.chat })
    const { body: closed } = await ann.post('/api/apps', { type: 'chat', name: 'Closed' })

    expect(await here.get(`/api/apps/${uid}`)).toMatchObject({ id, uid })
    for (const path of [`/api/apps/${closed.id}`, `/api/apps/${closed.id}/messages`, `/api/apps/${closed.id}/members`])
      expect((await there.ask('GET', path)).status).toBe(404)
  })

  test('stars and subscriptions are set and shown', async () => {
    const { id } = await here.post('/api/apps', { type: 'chat_room', members: [idOf(ben)] })
    const flags = async () => {
      const { is_starred, is_subscribed } = await there.get(`/api/apps/${id}`)
      return [is_starred, is_subscribed]
    }

    await there.post(`/api/apps/${id}/stars`)
    await there.post(`/api/apps/${id}/unsubscribe`)
    expect(await flags()).toEqual([true, false])
    await there.remove(`/api/apps/${id}/stars`)
    await there.post(`/api/apps/${id}/subscribe`)
    expect(await flags()).toEqual([false, true])
  })

  test('people are searched for, looked at and followed, agents as well', async () => {
    const people = await here.list(`/api/users?q=${eve.uid}&system=false&skip=0`)
    const agents = await here.list('/api/users?q=assi&agent=true&system=false&skip=0')
    const nobody = await here.list('/api/users?q=assi&agent=false&system=false&skip=0')
    const card = await here.get(`/api/users/${eve.id}`)
    await here.post(`/api/users/${eve.id}/follow`)
    const followed = await here.get(`/api/users/${eve.id}`)
    await here.post(`/api/users/${eve.id}/unfollow`)
    const unknown = await here.ask('POST', '/api/users/999999/follow')

    expect(people.map(one => shapes.User.parse(one).id)).toEqual([idOf(eve)])
    expect(agents).toMatchObject([{ id: assistant, name: 'Assistant', is_agent: true }])
    expect(nobody).toEqual([])
    expect(card).toMatchObject({ id: idOf(eve), name: 'Eve', is_followed: false })
    expect(followed.is_followed).toBe(true)
    expect([unknown.status, unknown.body]).toEqual([404, expect.objectContaining({ status: 404, title: 'Not Found' })])
    expect(shapes.User.parse(await here.get(`/api/users/${assistant}`))).toMatchObject({ is_agent: true })
  })

  test('a copilot asks for its chat and makes it at once: one of the answers is the chat, or both, on every load', async () => {
    const uid = `cop-${ann.id}`
    const wish = { type: guid.agentChat, members: ['assistant'], uid, name: 'Help' }
    const load = async (kit: Kit) => {
      const answers = await Promise.all([kit.ask('GET', `/api/apps/${uid}`), kit.ask('POST', '/api/apps', wish)])
      // Where the chat is made before it is looked for, both answers are the chat.
      const [chat, ...others] = answers.filter(({ status }) => status < 300)
      for (const { body } of others) expect(body.id).toBe(chat!.body.id)
      // Neither answer may make the kit fetch another token.
      for (const { status } of answers) expect([200, 201, 404, 422]).toContain(status)
      return shapes.App.parse(chat!.body)
    }

    const [first, again, others] = [await load(here), await load(here), await load(there)]

    expect(again).toMatchObject({ id: first.id, uid, name: 'Help' })
    expect(others.id).not.toBe(first.id)
    expect((await here.list(`/api/apps/${first.id}/members`)).map(({ id }) => id).sort()).toEqual(
      [idOf(ann), assistant].sort(),
    )
  })

  test('an agent chat takes the first sentence as its name, from the kit or by itself', async () => {
    const chat = await here.post('/api/apps', { type: 'agent_chat', members: ['assistant'] })
    const named = await here.post('/api/apps', {
      type: 'agent_chat',
      members: ['assistant'],
      uid: `wy-copilot-${ann.id}`,
      name: 'What is the time?',
    })
    const context = await here.upload('1.data.txt', 'It is noon.')
    await here.post(`/api/apps/${chat.id}/messages`, {
      text: 'How are you? Fine.',
      blobs: [],
      embed_id: null,
      options: [],
      metadata: { instructions: 'Be brief.' },
      context: [context.id],
    })

    expect(named.name).toBe('What is the time?')
    expect((await here.get(`/api/apps/${chat.id}`)).name).toBe('How are you?')
    expect(await here.patch(`/api/apps/${chat.id}`, { name: 'Health' })).toMatchObject({ name: 'Health' })
    const [message] = await here.list(`/api/apps/${chat.id}/messages?order_by=id+desc&skip=0`)
    expect(message).toMatchObject({ attachments: { count: 0 } })
    // A copilot's chat has a uid, and is no conversation of the messenger.
    expect(await here.list(`/api/apps?member=assistant&type=${guid.agentChat}&${byActivity}`)).toMatchObject([
      { id: chat.id, last_message: { plain: 'How are you? Fine.' } },
    ])
  })

  test('a chat without a name is named by whoever may write in it', async () => {
    const uid = `nameless-${ann.id}`
    const { id } = await here.put(`/api/apps/${uid}`, { type: guid.chat })
    await there.put(`/api/apps/${uid}`, { type: guid.chat })

    const named = await there.patch(`/api/apps/${id}`, { name: 'Hello there' })
    // Until it reads the app again, the kit goes on naming it, after its newest message.
    const again = await there.patch(`/api/apps/${id}`, { name: 'Hello there' })
    const newer = await there.patch(`/api/apps/${id}`, { name: 'How are you?' })

    expect([named, again, newer].map(({ name }) => name)).toEqual(['Hello there', 'Hello there', 'How are you?'])
    expect(again.rev).toBe(named.rev)
  })

  test('a chat without a name gets that of the component, whoever shows it', async () => {
    const uid = `nameless-${ann.id}`
    const { id } = await here.put(`/api/apps/${uid}`, { type: guid.chat })

    const first = await there.put(`/api/apps/${uid}`, { type: guid.chat, name: 'Lobby' })
    const second = await there.put(`/api/apps/${uid}`, { type: guid.chat, name: 'Hall' })

    expect([first, second]).toMatchObject([
      { id, name: 'Lobby' },
      { id, name: 'Lobby' },
    ])
  })

  test('a picture of a room is an uploaded blob, and null takes it away', async () => {
    const { id } = await here.post('/api/apps', { type: 'chat_room', members: [idOf(ben)] })
    const pixel = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    const blob = await there.upload('room.png', pixel, 'image/png')

    const shown = await there.patch(`/api/apps/${id}`, { picture: blob.id })
    const picture = await fetch(shown.avatar_url)
    const bare = await there.patch(`/api/apps/${id}`, { picture: null })

    expect(blob).toMatchObject({ id: expect.any(Number), width: 1, height: 1, thumbnail_url: expect.any(String) })
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^image\//)])
    expect(bare).not.toHaveProperty('avatar_url')
  })
})
