import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import { pack } from 'msgpackr'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { overloaded } from '../../src/lib/errors.ts'
import { Refusals, Refused } from '../../src/realtime/sessions/refusals.ts'
import { helloBytes } from '../../src/realtime/sessions/session.ts'
import { eventually } from '../support/eventually.ts'
import { joinHub } from '../support/hub.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { closedWith, listen } from '../support/realtime.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

const sessions = async (server: Server) => {
  const { body } = await server.request('GET', '/metrics')
  return Number(/^parley_sessions (\d+)/m.exec(body)?.[1])
}

test('frames that make no sense are refused, and after a few of them the connection ends', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const nonsense = ['', '{', 'null', '[]', '"ping"', '{"type":"sing"}', '{"type":"subscribe","app_id":{}}', '\0']

  for (const text of nonsense) {
    await using inbox = await listen(server.url, { token: ann.token })
    inbox.socket.send(text)
    expect(await inbox.hear('error')).toMatchObject({ code: 'bad-request' })
    for (let i = 0; i < 4; i++) inbox.socket.send(text)
    expect(await inbox.closed).toBe(4400)
  }
})

test('random bytes do no harm, in either protocol', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await using witness = await listen(server.url, { token: ben.token })
  await witness.subscribe(app)

  for (let i = 0; i < 40; i++) {
    await using inbox = await listen(server.url, { token: ann.token, protocol: i % 2 === 0 ? 'json' : 'msgpack' })
    for (let j = 0; j < 5; j++) inbox.socket.send(randomBytes(1 + j * 100), { binary: j % 2 === 0 })
    inbox.socket.send(pack({ type: 'subscribe', app_id: app, after: 1, ['__proto__']: { type: 'ping' } }))
    await inbox.closed
  }

  await ann.post(`/api/apps/${app}/messages`, { text: 'still here' })
  expect((await witness.take(1))[0].message.text).toBe('still here')
})

test('a frame that is too large ends the connection', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await using inbox = await listen(server.url, { token: ann.token })

  inbox.say({ type: 'ping', padding: 'x'.repeat(70_000) })

  expect(await inbox.closed).toBe(1009)
})

test.each([
  ['/api/realtime', 'a frame just over the limit', 64 * 1024 + 1, 1009],
  ['/api/realtime', 'a frame of nearly a mebibyte', 1_000_000, 1009],
  ['/hubs/rtm', 'a frame just over the limit', 64 * 1024 + 1, 1009],
  ['/hubs/rtm', 'a frame of nearly a mebibyte', 1_000_000, 1009],
])('at %s %s is told by the code', async (path, _, sizeBytes, code) => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  for (const isBinary of [false, true]) {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}${path}?access_token=${ann.token}`)
    await once(socket, 'open')
    socket.send(Buffer.alloc(sizeBytes, 'x'), { binary: isBinary })
    const [closed, reason] = (await once(socket, 'close')) as [number, Buffer]
    expect([closed, reason.toString()]).toEqual([code, 'frame-too-large'])
  }
})

test('a hello that is too large is told so', async () => {
  await using server = await startServer()

  for (const protocol of ['json', 'msgpack'] as const) {
    await using inbox = await listen(server.url, { protocol })
    inbox.say({ type: 'hello', access_token: 'x'.repeat(13_000) })
    expect(await inbox.hear('error')).toMatchObject({ code: 'hello-too-large' })
    expect(await inbox.closed).toBe(4400)
  }
})

test('a client that sends frames without end is disconnected', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await using inbox = await listen(server.url, { token: ann.token })

  for (let i = 0; i < 560; i++) inbox.say({ type: 'ping' })

  expect(await inbox.closed).toBe(4429)
})

test.each(['/api/realtime', '/hubs/rtm'])(
  'what a user says counts over all connections to %s, also over those that have ended',
  async path => {
    await using server = await startServer({ SESSIONS_PER_USER: '2' })
    const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
    const talk = async ({ token }: Person, frames: number) => {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}${path}?access_token=${token}`)
      const welcome = once(socket, 'message')
      await once(socket, 'open')
      const padding = 'x'.repeat(60_000)
      const isHub = path === '/hubs/rtm'
      if (isHub) socket.send('{"protocol":"json","version":1}\x1e')
      await welcome
      const frame = isHub ? `{"type":6,"padding":"${padding}"}\x1e` : `{"type":"ping","padding":"${padding}"}`
      for (let i = 0; i < frames; i++) socket.send(frame)
      socket.close(1000)
      const [code] = (await once(socket, 'close')) as [number]
      return code
    }

    expect(await talk(ann, 34)).toBe(1000)
    expect(await talk(ann, 34)).toBe(4429)
    expect(await talk(ben, 34)).toBe(1000)
  },
)

test('whoever has not said who they are may say little else', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  for (const protocol of ['json', 'msgpack'] as const) {
    await using stranger = await listen(server.url, { protocol })
    for (let said = 0; said < helloBytes; said += 1_000) stranger.say({ type: 'ping', padding: 'x'.repeat(1_000) })
    expect(await stranger.closed).toBe(4429)

    await using inbox = await listen(server.url, { protocol })
    for (let i = 0; i < 10; i++) inbox.say({ type: 'ping' })
    inbox.say({ type: 'hello', access_token: ann.token })
    await inbox.hear('welcome')
    for (let i = 0; i < 5; i++) inbox.say({ type: 'ping', padding: 'x'.repeat(1_000) })
    await inbox.settle()
  }
})

test('a session has a limited number of subscriptions', async () => {
  await using server = await startServer({ SESSION_SUBSCRIPTIONS: '2' })
  const { app, people } = await server.chatWith(1)
  const others = await Promise.all(
    [1, 2].map(() => server.admin.post('/api/apps', { type: 'chat', access: 'read' }).then(({ body }) => body.id)),
  )
  await using inbox = await listen(server.url, { token: people[0].token })

  const answers = []
  for (const one of [app, ...others, app]) answers.push(await inbox.subscribe(one))

  expect(answers.map(answer => answer.code ?? answer.type)).toEqual([
    'subscribed',
    'subscribed',
    'too-many-subscriptions',
    'subscribed',
  ])
})

test('a client of the hub has a limited number of apps, and hears of each as much as it likes', async () => {
  await using server = await startServer({ SESSION_SUBSCRIPTIONS: '2' })
  const { app, people } = await server.chatWith(1)
  const others = await Promise.all(
    [1, 2].map(() => server.admin.post('/api/apps', { type: 'chat', access: 'read' }).then(({ body }) => body.id)),
  )
  await using hub = await joinHub(server.url, { token: () => people[0].token })

  const answers = []
  for (const one of [app, ...others]) answers.push(await hub.subscribe(`a${one}:message_created`))
  answers.push(await hub.subscribe(`a${app}:app_updated`))

  expect(answers).toEqual([true, true, false, true])
})

test('a user has a limited number of sessions, and a node of connections', async () => {
  await using server = await startServer({ SESSIONS_PER_USER: '2', SESSIONS: '4' })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await using first = await listen(server.url, { token: ann.token })
  await using second = await listen(server.url, { token: ann.token })

  await using third = await listen(server.url)
  third.say({ type: 'hello', access_token: ann.token })
  expect(await third.closed).toBe(4429)

  await using other = await listen(server.url, { token: ben.token })
  await using silent = await listen(server.url)
  expect(await closedWith(`${server.url}/api/realtime`)).toBe(1013)
  for (const inbox of [first, second, other, silent]) await inbox.settle()
})

test('clients of the hub that do not say their protocol count as sessions of their user', async () => {
  await using server = await startServer({ SESSIONS_PER_USER: '2' })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const open = (token: string) => new WebSocket(`${server.url.replace('http', 'ws')}/hubs/rtm?access_token=${token}`)
  const isAdmitted = async (socket: WebSocket) => {
    await once(socket, 'open')
    socket.send('{"protocol":"json","version":1}\x1e')
    await once(socket, 'message')
  }

  // Whichever: they are counted when their token is known, not in the order in which they connect.
  const three = [open(ann.token), open(ann.token), open(ann.token)]
  const refused = await Promise.race(three.map(async socket => ({ socket, closed: await once(socket, 'close') })))
  expect(refused.closed[0]).toBe(4429)

  const other = open(ben.token)
  await isAdmitted(other)
  const [first, second] = three.filter(socket => socket !== refused.socket)
  first!.close()
  await once(first!, 'close')
  const next = open(ann.token)
  await isAdmitted(next)
  for (const socket of [second!, other, next]) socket.close()
})

test('a client that never reads is cut, costs little memory, and keeps nobody waiting', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using stuck = await listen(server.url, { token: ben.token })
  await using quick = await listen(server.url, { token: ben.token })
  await stuck.subscribe(app)
  await quick.subscribe(app)
  const text = 'x'.repeat(60_000)
  const rss = process.memoryUsage().rss

  stuck.socket.pause()
  let sent = 0
  await eventually(
    async () => {
      await Promise.all(Array.from({ length: 10 }, () => ann.post(`/api/apps/${app}/messages`, { text })))
      sent += 10
      expect(await sessions(server)).toBe(1)
    },
    { timeoutMs: 15_000 },
  )

  expect((await quick.take(sent)).map(event => event.event)).toEqual(Array(sent).fill('message_created'))
  expect(process.memoryUsage().rss - rss).toBeLessThan(400_000_000)
  stuck.socket.resume()
  expect(await stuck.closed).toBe(1006)
})

test('a replay goes no faster than its reader, and is complete in the end', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using before = await listen(server.url, { token: ben.token })
  const { rev } = await before.subscribe(app)
  before.socket.terminate()
  const text = 'x'.repeat(60_000)
  for (let i = 0; i < 12; i++) {
    await Promise.all(Array.from({ length: 10 }, () => ann.post(`/api/apps/${app}/messages`, { text })))
  }

  await using slow = await listen(server.url, { token: ben.token })
  slow.socket.on('message', () => {
    slow.socket.pause()
    setTimeout(() => slow.socket.resume(), 2)
  })
  await slow.subscribe(app, rev)
  const heard = await slow.take(120, 'event', 30_000)

  for (const [i, event] of heard.slice(1).entries()) expect(event.prev).toBe(heard[i].rev)
  expect(await sessions(server)).toBe(1)
}, 40_000)

test('a client that connects again after each refusal, at once and without end, waits for most of them', async () => {
  await using server = await startServer({ SESSIONS_PER_USER: '1' })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await using first = await listen(server.url, { token: ann.token })
  let closed = 0
  const sockets = Array.from({ length: 400 }, () => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/realtime?access_token=${ann.token}`)
    socket.on('close', code => code === 4429 && closed++)
    return socket
  })
  await Promise.all(sockets.map(socket => once(socket, 'open')))

  await using other = await listen(server.url, { token: ben.token })
  await Promise.all([first.settle(), other.settle()])
  await eventually(() => expect(closed).toBeGreaterThan(100))
  expect(closed).toBeLessThan(400)
  await eventually(() => expect(closed).toBe(400))
})

test('refused connections wait in a limited number, and leave their place when they go', () => {
  const clock = new ManualClock()
  const refusals = new Refusals(clock)
  const ended: number[] = []
  const refused = Array.from({ length: 5_250 }, (_, i) => {
    const one = new Refused(overloaded())
    refusals.end({ end: () => ended.push(i) }, one)
    return one
  })
  expect(ended).toHaveLength(250)

  refused[300]!.forget!()
  clock.advance(5_000)

  expect(ended).toHaveLength(5_249)
  expect(ended).not.toContain(300)
})
