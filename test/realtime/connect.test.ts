import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { client } from '../support/client.ts'
import { closedWith, Listener, listen } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'
import { requestText, Wire } from '../support/wire.ts'

test('a token is taken from the header, the subprotocol, the query or the first frame', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const address = `${server.url.replace('http', 'ws')}/api/realtime`

  const sockets = [
    new WebSocket(address, { headers: { authorization: `Bearer ${ann.token}` } }),
    new WebSocket(address, ['json', `bearer.${ann.token}`]),
    new WebSocket(`${address}?access_token=${ann.token}`),
    new WebSocket(address),
  ]
  const inboxes = sockets.map(socket => new Listener(socket, false))
  await once(sockets[3]!, 'open')
  inboxes[3]!.say({ type: 'hello', access_token: ann.token })

  for (const inbox of inboxes) {
    expect(await inbox.hear('welcome')).toMatchObject({ user_id: ann.id, scalars: 'string' })
    await inbox[Symbol.asyncDispose]()
  }
})

test('who is welcomed is told for how long', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const { body } = await server.admin.post(`/api/users/${ann.id}/tokens`, { expires_in: 100 })
  const address = `${server.url.replace('http', 'ws')}/api/realtime?scalars=number`
  await using inbox = new Listener(new WebSocket(address, ['msgpack', `bearer.${body.access_token}`]), true)

  const { expires_in } = await inbox.hear('welcome')

  expect(expires_in).toBeGreaterThan(80)
  expect(expires_in).toBeLessThanOrEqual(100)
})

test('what is not a valid access token ends the connection, with a code that pages can see', async () => {
  await using server = await startServer()
  const address = `${server.url}/api/realtime`

  expect(await closedWith(`${address}?access_token=wyu_nobody`)).toBe(4401)
  expect(await closedWith(address, ['json', 'bearer.wyu_nobody'])).toBe(4401)
  for (const _ of ['looked up', 'known by then'])
    expect(await closedWith(address, ['json', `bearer.${server.key}`])).toBe(4403)
  expect(await closedWith(address, ['json', `bearer.${'x'.repeat(1_000)}`])).toBe(4401)
})

test('a token that has just expired ends the connection in the same way', async () => {
  await using server = await startServer()
  const { id } = await server.person('Ann')
  const { body } = await server.admin.post(`/api/users/${id}/tokens`, { expires_in: 1 })
  const protocols = ['json', `bearer.${body.access_token}`]
  const address = `${server.url}/api/realtime`

  expect(await closedWith(address, protocols)).toBe(4401)
  expect(await closedWith(address, protocols)).toBe(4401)
})

test('what a client sends while its token is looked up is handled when that is done', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const address = `${server.url.replace('http', 'ws')}/api/realtime`
  const socket = new WebSocket(address, ['json', `bearer.${people[0].token}`])
  await using inbox = new Listener(socket, false)

  await once(socket, 'open')
  inbox.say({ type: 'ping' })
  inbox.say({ type: 'subscribe', app_id: app })

  await inbox.hear('subscribed')
})

test('a hello without a valid token ends the connection', async () => {
  await using server = await startServer()
  await using nobody = await listen(server.url)
  await using key = await listen(server.url)

  nobody.say({ type: 'hello', access_token: 'wyu_nobody' })
  key.say({ type: 'hello', access_token: server.key })

  expect(await nobody.closed).toBe(4401)
  expect(nobody.frames).toMatchObject([{ type: 'error', status: '401', code: 'unauthorized' }])
  expect(await key.closed).toBe(4403)
})

test('nothing is sent before the hello', async () => {
  await using server = await startServer()
  const { app } = await server.chatWith(1)
  await using inbox = await listen(server.url)

  inbox.say({ type: 'subscribe', app_id: app })

  expect(await inbox.hear('error')).toMatchObject({ status: '401', code: 'hello-expected' })
})

test('a client may choose a protocol and the form of scalars', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const { token } = ben
  await using strings = await listen(server.url, { token, protocol: 'msgpack' })
  await using numbers = await listen(server.url, { token, protocol: 'msgpack', scalars: 'number' })
  await using json = await listen(server.url, { token, scalars: 'number' })
  for (const inbox of [strings, numbers, json]) await inbox.subscribe(app)

  await ann.post(`/api/apps/${app}/messages`, { text: 'hello' })

  const [[asStrings], [asNumbers], [asJson]] = [await strings.take(1), await numbers.take(1), await json.take(1)]
  expect(asStrings).toMatchObject({ app_id: app, message: { text: 'hello', created_by: { id: ann.id } } })
  expect(asNumbers).toMatchObject({
    app_id: Number(app),
    message: { text: 'hello', created_by: { id: Number(ann.id) } },
  })
  expect(asJson).toEqual(asNumbers)
})

test('a protocol that is not spoken here is refused', async () => {
  await using server = await startServer()

  expect(await closedWith(`${server.url}/api/realtime`, ['soap'])).toBe(4400)
  expect(await closedWith(`${server.url}/api/realtime`, ['bearer.wyu_nobody'])).toBe(4400)
  expect(await closedWith(`${server.url}/api/realtime?scalars=roman`)).toBe(4400)
})

test.each(['/api/realtime', '/hubs/rtm'])('at %s plain requests are refused like everywhere', async path => {
  await using server = await startServer()
  const headers = { origin: 'https://app.example' }
  const ask = (method: string) => client(server.url).request(method, path, { headers })

  const got = await ask('GET')
  const [posted, head, preflight] = [await ask('POST'), await ask('HEAD'), await ask('OPTIONS')]

  expect(got).toMatchObject({ status: 426, body: { status: 426, code: 'upgrade-required', instance: path } })
  expect(got.headers.get('upgrade')).toBe('websocket')
  expect(posted).toMatchObject({ status: 405, body: { code: 'method-not-allowed', instance: path } })
  expect(posted.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  expect([head.status, preflight.status]).toEqual([426, 204])
  for (const answer of [got, posted, head, preflight]) {
    expect(answer.headers.get('access-control-allow-origin')).toBe(headers.origin)
    expect(answer.headers.get('vary')).toBe('Origin')
  }
})

test('a connection whose host is not clear is refused', async () => {
  await using server = await startServer()
  const wire = await Wire.open(Number(new URL(server.url).port))
  const upgrade = {
    Upgrade: 'websocket',
    Connection: 'Upgrade',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version': '13',
  }

  await wire.send(requestText('GET', '/api/realtime', { ...upgrade, host: 'other.example' }))

  expect((await wire.answer()).status).toBe(400)
  expect(await wire.closed()).toBe('closed')
})

test('a node that stops asks its clients to connect again', async () => {
  const server = await startServer()
  const ann = await server.person('Ann')
  await using inbox = await listen(server.url, { token: ann.token })

  await server[Symbol.asyncDispose]()

  expect(await inbox.closed).toBe(1012)
})
