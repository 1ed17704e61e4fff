import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../support/eventually.ts'
import { joinHub } from '../support/hub.ts'
import { closedWith } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'

test.each(['json', 'messagepack'] as const)(
  '%s clients get the events of an app that they subscribed to',
  async protocol => {
    await using server = await startServer()
    const { app, people } = await server.chatWith(2)
    const [ann, ben] = people
    await using hub = await joinHub(server.url, { token: () => ben.token, protocol })
    const name = `a${app}:message_created`

    expect(await hub.subscribe(name)).toBe(true)
    await ann.post(`/api/apps/${app}/messages`, { text: 'Hello **Ben**' })

    const { id, action, actor, message } = await hub.hear(name)
    expect({ id, action, actor }).toEqual({
      id: expect.any(Number),
      action: 'message_created',
      actor: expect.objectContaining({ id: Number(ann.id), name: 'Ann' }),
    })
    expect(message).toMatchObject({
      id: expect.any(Number),
      app: { id: Number(app) },
      text: 'Hello **Ben**',
      html: expect.stringContaining('<strong>Ben</strong>'),
      created_by: { id: Number(ann.id), name: 'Ann' },
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    })
  },
)

test('an author gets what it did, under both names', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  await using hub = await joinHub(server.url, { token: () => ann.token })
  await hub.subscribe('message_created')
  await hub.subscribe(`A${app}:Message_Created`)

  await ann.post(`/api/apps/${app}/messages`, { text: 'Me' })

  expect(await hub.hear('message_created')).toMatchObject({ message: { text: 'Me' } })
  expect(await hub.hear(`A${app}:Message_Created`)).toMatchObject({ message: { text: 'Me' } })
})

test('reactions, read markers, typing and names of apps are told with what clients need', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'Well?' })
  await using hub = await joinHub(server.url, { token: () => ann.token })
  const events = ['reaction_added', 'reaction_removed', 'app_marked', 'typing', 'app_updated', 'member_added']
  for (const event of events) expect(await hub.subscribe(`a${app}:${event}`)).toBe(true)
  const actor = expect.objectContaining({ id: Number(ben.id) })
  const entity = { id: Number(message.id), type: 'message' }

  await ben.put(`/api/apps/${app}/typing`, {})
  expect(await hub.hear(`a${app}:typing`)).toMatchObject({ actor, entity: { id: Number(app), type: 'app' } })
  await ben.post(`/api/messages/${message.id}/reactions`, { content: '👍' })
  expect(await hub.hear(`a${app}:reaction_added`)).toMatchObject({ actor, entity, reaction: '👍' })
  await ben.delete(`/api/messages/${message.id}/reactions`, {})
  expect(await hub.hear(`a${app}:reaction_removed`)).toMatchObject({ actor, entity, reaction: '👍' })
  await ben.put(`/api/apps/${app}/mark?messageId=${message.id}`)
  expect(await hub.hear(`a${app}:app_marked`)).toMatchObject({ actor, marked_id: Number(message.id) })
  await server.admin.patch(`/api/apps/${app}`, { name: 'Lobby' })
  expect(await hub.hear(`a${app}:app_updated`)).toMatchObject({ app: { id: Number(app), name: 'Lobby' } })
})

test('what concerns a user is sent to it alone', async () => {
  await using server = await startServer()
  const { app, people, stranger } = await server.chatWith(2)
  const [ann, ben] = people
  await using hub = await joinHub(server.url, { token: () => ben.token })
  await using other = await joinHub(server.url, { token: () => stranger.token })
  for (const event of ['app_created', 'message_created', 'member_added', 'app_marked']) {
    expect(await hub.subscribe(event)).toBe(true)
    expect(await other.subscribe(event)).toBe(true)
  }

  const { body: made } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })
  expect(await hub.hear('app_created')).toMatchObject({ action: 'app_created', app: { id: Number(made.id) } })
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'Hi' })
  expect(await hub.hear('message_created')).toMatchObject({ message: { id: Number(message.id) } })
  await ben.put(`/api/apps/${app}/mark`)
  expect(await hub.hear('app_marked')).toMatchObject({ actor: { id: Number(ben.id) }, marked_id: Number(message.id) })
  await server.admin.put(`/api/apps/${app}/members`, [{ id: stranger.id, access: 'write' }])
  expect(await other.hear('member_added')).toMatchObject({
    app: { id: Number(app) },
    member: { id: Number(stranger.id) },
  })

  expect(other.told).toEqual([])
})

test('a name is refused where the app is not visible, or nothing has that name', async () => {
  await using server = await startServer()
  const { app, stranger } = await server.chatWith(1)
  await using hub = await joinHub(server.url, { token: () => stranger.token })

  for (const name of [`a${app}:message_created`, 'a999999:message_created', `a${app}:nonsense`, 'a:typing', '']) {
    expect(await hub.subscribe(name)).toBe(false)
  }
  await expect(hub.connection.invoke('Shout', 'hey')).rejects.toThrow('There is no such method')
})

test('subscribing again changes nothing, and one unsubscribe ends it', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  await using hub = await joinHub(server.url, { token: () => ann.token })
  const name = `a${app}:message_created`
  await Promise.all([hub.subscribe(name), hub.subscribe(name)])
  await hub.subscribe(`a${app}:typing`)

  await ann.post(`/api/apps/${app}/messages`, { text: 'one' })
  await hub.hear(name)
  await hub.connection.invoke('Unsubscribe', name)
  await ann.post(`/api/apps/${app}/messages`, { text: 'two' })
  await hub.subscribe(name)
  await ann.post(`/api/apps/${app}/messages`, { text: 'three' })

  expect(await hub.hear(name)).toMatchObject({ message: { text: 'three' } })
  expect(hub.told).toEqual([])
})

test('a user who loses access to an app gets no more of it', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await using hub = await joinHub(server.url, { token: () => ben.token })
  await hub.subscribe(`a${app}:message_created`)
  await hub.subscribe('message_created')

  await server.admin.delete(`/api/apps/${app}/members/${ben.id}`)
  await ann.post(`/api/apps/${app}/messages`, { text: 'gone' })

  expect(await hub.subscribe(`a${app}:message_created`)).toBe(false)
  expect(hub.told).toEqual([])
})

test('a revoked token ends the connection, negotiating with it says 401, and a fresh one goes on', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const negotiate = '/hubs/rtm/negotiate?negotiateVersion=1'
  let token = ben.token
  await using hub = await joinHub(server.url, { token: () => token, retryDelaysMs: [0, 50, 50, 50] })
  const back = new Promise<void>(resolve => hub.connection.onreconnected(() => resolve()))
  await hub.subscribe(`a${app}:message_created`)

  await server.admin.delete(`/api/users/${ben.id}/tokens`)
  expect((await server.request('POST', negotiate, { token: ben.token })).status).toBe(401)
  token = (await server.admin.post(`/api/users/${ben.id}/tokens`)).body.access_token
  await back
  await hub.subscribe(`a${app}:message_created`)
  await ann.post(`/api/apps/${app}/messages`, { text: 'again' })

  expect(await hub.hear(`a${app}:message_created`)).toMatchObject({ message: { text: 'again' } })
})

test('negotiating needs an access token, works from other origins, and numbers are numbers', async () => {
  await using server = await startServer()
  const ann = await server.person()
  const headers = { origin: 'https://page.example', 'x-requested-with': 'XMLHttpRequest' }
  const path = '/hubs/rtm/negotiate?negotiateVersion=1'

  const { status, body, headers: answered } = await ann.post(path, undefined, headers)

  expect(status).toBe(200)
  expect(body).toEqual({
    negotiateVersion: 1,
    connectionId: expect.stringMatching(/^[\w-]{20,}$/),
    connectionToken: expect.stringMatching(/^[\w-]{20,}$/),
    availableTransports: [{ transport: 'WebSockets', transferFormats: ['Text', 'Binary'] }],
  })
  expect(answered.get('access-control-allow-origin')).toBe('https://page.example')
  expect(answered.get('access-control-allow-credentials')).toBe('true')
  for (const token of [undefined, 'wyu_nobody']) {
    expect((await server.request('POST', path, { ...(token && { token }) })).status).toBe(401)
  }
  expect(await closedWith(`${server.url}/hubs/rtm`)).toBe(4401)
  expect(await closedWith(`${server.url}/hubs/rtm?access_token=wyu_nobody`)).toBe(4401)
})

test('a client that makes no sense is sent away, and harms nobody', async () => {
  await using server = await startServer()
  const ann = await server.person()
  const address = `${server.url.replace('http', 'ws')}/hubs/rtm?access_token=${ann.token}`
  const hello = '{"protocol":"json","version":1}\x1e'
  const nonsense = [
    'hello',
    '{"protocol":"json","version":1}',
    '{"protocol":"xml","version":1}\x1e',
    '{"protocol":"toString","version":1}\x1e',
    '{"protocol":"__proto__","version":1}\x1e',
    '{"protocol":"json","version":2}\x1e',
    `${hello}{"type":1`,
    `${hello}null\x1e`,
    `${hello}{"type":1,"target":7,"arguments":[]}\x1e`,
    `{"protocol":"messagepack","version":1}\x1e${String.fromCodePoint(255, 255, 255, 255, 255)}`,
  ]

  for (const message of nonsense) {
    const socket = new WebSocket(address)
    await once(socket, 'open')
    socket.send(message)
    const [code] = await once(socket, 'close')
    expect({ message, code }).toEqual({ message, code: 4400 })
  }

  await using hub = await joinHub(server.url, { token: () => ann.token })
  expect(await hub.subscribe('message_created')).toBe(true)
})

test('a client is told which protocols there are, and one that says goodbye is let go', async () => {
  await using server = await startServer()
  const ann = await server.person()
  const say = async (text: string) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/hubs/rtm?access_token=${ann.token}`)
    let heard = ''
    socket.on('message', data => void (heard += data.toString()))
    await once(socket, 'open')
    socket.send(text)
    const [code] = await once(socket, 'close')
    return { heard, code }
  }

  const stranger = await say('{"protocol":"xml","version":1}\x1e')
  const leaver = await say('{"protocol":"json","version":1}\x1e{"type":7}\x1e')

  expect(stranger.heard).toMatch(/^{"error":"The protocols .* json and messagepack."}.$/)
  expect(leaver).toEqual({ heard: '{}\x1e', code: 1000 })
})

test.each(['json', 'messagepack'] as const)(
  '%s clients need not wait for answers, nor write as we do',
  async protocol => {
    await using server = await startServer()
    const { app, people } = await server.chatWith(1)
    const [ann] = people
    await using hub = await joinHub(server.url, { token: () => ann.token, protocol })
    const name = `a${app}:message_created`
    hub.connection.on(name, payload => void hub.told.push({ name, payload }))

    await hub.connection.send('SUBSCRIBE', name)
    await hub.subscribe(`a${app}:typing`)
    await ann.post(`/api/apps/${app}/messages`, { text: 'hello' })

    expect(await hub.hear(name)).toMatchObject({ message: { text: 'hello' } })
  },
)

test('a session that unsubscribes from one event gets the others, and other connections get all', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  await using hub = await joinHub(server.url, { token: () => ann.token })
  await using other = await joinHub(server.url, { token: () => ann.token })
  const name = `a${app}:message_created`
  for (const one of ['message_created', name]) await hub.subscribe(one)
  await other.subscribe('message_created')

  await hub.connection.invoke('Unsubscribe', 'message_created')
  await ann.post(`/api/apps/${app}/messages`, { text: 'hello' })
  await hub.hear(name)
  await hub.subscribe('message_created')
  await ann.post(`/api/apps/${app}/messages`, { text: 'again' })

  expect(await hub.hear('message_created')).toMatchObject({ message: { text: 'again' } })
  for (const text of ['hello', 'again'])
    expect(await other.hear('message_created')).toMatchObject({ message: { text } })
})

test('a client that never reads is cut, and the others get everything', { timeout: 30_000 }, async () => {
  await using server = await startServer({ SESSION_BACKLOG_KB: '64' })
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const name = `a${app}:message_created`
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/hubs/rtm?access_token=${ben.token}`)
  await once(socket, 'open')
  socket.send(
    `{"protocol":"json","version":1}\x1e{"type":1,"target":"Subscribe","arguments":["${name}"],"invocationId":"0"}\x1e`,
  )
  await once(socket, 'message')
  socket.pause()
  await using hub = await joinHub(server.url, { token: () => ann.token })
  await hub.subscribe(name)

  const text = 'x'.repeat(20_000)
  const isCut = async () => (await server.admin.get('/metrics')).body.includes('parley_sessions 1\n')
  let sent = 0
  while (!(await isCut())) {
    await Promise.all(Array.from({ length: 20 }, () => ann.post(`/api/apps/${app}/messages`, { text })))
    sent += 20
  }

  await eventually(() => expect(hub.told.length).toBe(sent))
  socket.terminate()
})

test('a client gets something at least every fifteen seconds', { timeout: 20_000 }, async () => {
  await using server = await startServer()
  const ann = await server.person()
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/hubs/rtm?access_token=${ann.token}`)
  await once(socket, 'open')
  socket.send('{"protocol":"json","version":1}\x1e')

  const [handshake] = await once(socket, 'message')
  const [ping] = await once(socket, 'message', { signal: AbortSignal.timeout(15_000) })

  expect([String(handshake), String(ping)]).toEqual(['{}\x1e', '{"type":6}\x1e'])
  socket.terminate()
})

test('a file that goes to the trash and comes back is told of by the names that clients know', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const { body: app } = await ann.put('/api/apps/papers', { type: 'files', name: 'Papers' })
  const form = new FormData()
  form.append('blob', new Blob(['text']), 'a.txt')
  const { body: blob } = await ann.post('/api/blobs', form)
  await using hub = await joinHub(server.url, { token: () => ann.token })
  const events = ['file_created', 'file_updated', 'file_trashed', 'file_restored']
  for (const event of events) expect(await hub.subscribe(`a${app.id}:${event}`)).toBe(true)

  const { body: file } = await ann.post(`/api/apps/${app.id}/files`, { blob_id: blob.id })
  await ann.post(`/api/files/${file.id}/trash`)
  await ann.post(`/api/files/${file.id}/restore`)
  await ann.patch(`/api/files/${file.id}`, { name: 'b.txt' })

  for (const event of ['file_created', 'file_trashed', 'file_restored', 'file_updated']) {
    expect(await hub.hear(`a${app.id}:${event}`)).toMatchObject({ action: event, file: { id: Number(file.id) } })
  }
  expect(hub.told).toEqual([])
})
