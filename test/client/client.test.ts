import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { afterEach, expect, test, vi } from 'vitest'
import { RealtimeClient, type Status } from '../../src/client/client.ts'
import type { AgentRun, RealtimeEvent } from '../../src/client/events.ts'
import type { SocketType } from '../../src/client/connection.ts'
import { eventually } from '../support/eventually.ts'
import { createNetwork } from '../support/network.ts'
import { startPair } from '../support/pair.ts'
import { listen } from '../support/realtime.ts'
import { chatWithAgent, makeAgent } from '../support/agents.ts'
import { startServer } from '../support/server.ts'

afterEach(() => void vi.restoreAllMocks())

const Ws = WebSocket as unknown as SocketType

/** WebSockets that the test can look at. */
const keptIn = (sockets: WebSocket[]) =>
  class extends WebSocket {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args)
      sockets.push(this)
    }
  } as unknown as SocketType

const texts = (events: RealtimeEvent[]) =>
  events.flatMap(event => (event.event === 'message_created' ? [event.message.text] : []))

test('whenever the connection is cut, every event is heard exactly once and in order', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await using network = await createNetwork(server.url)
  const heard: RealtimeEvent[] = []
  let connections = 0
  const status = ({ state }: Status) => void (state === 'connected' && connections++)
  const client = new RealtimeClient({ url: network.url, token: () => ben.token, status, WebSocket: Ws })
  const subscription = client.subscribe(app, { event: event => void heard.push(event) })
  await eventually(() => expect(subscription.rev).toBeDefined())

  const sent: string[] = []
  for (let round = 0; round < 12; round++) {
    const batch = Array.from({ length: 20 }, (_, i) => `round ${round}, message ${i}`)
    for (const text of batch) {
      await ann.post(`/api/apps/${app}/messages`, { text })
      // Now and then in the middle of something.
      if (Math.random() < 0.1) network.cut()
    }
    sent.push(...batch)
    network.cut()
  }
  await eventually(() => expect(heard.length).toBeGreaterThanOrEqual(sent.length), { timeoutMs: 45_000 })

  expect(texts(heard)).toEqual(sent)
  expect(connections).toBeGreaterThan(1)
  client.close()
})

test('a listener that takes over from further back misses nothing, whatever was on its way', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  const client = new RealtimeClient({ url: server.url, token: () => ann.token, WebSocket: Ws })
  const first = client.subscribe(Number(app), { event: () => {} })
  await eventually(() => expect(first.rev).toBeDefined())
  const start = first.rev!

  const sent = Array.from({ length: 200 }, (_, i) => `message ${i}`)
  let heard: RealtimeEvent[] = []
  for (const text of sent) {
    heard = []
    const own = heard
    await Promise.all([
      ann.post(`/api/apps/${app}/messages`, { text }),
      delay(Math.random() * 5).then(() => client.subscribe(Number(app), { event: e => void own.push(e) }, start)),
    ])
    const all = sent.slice(0, sent.indexOf(text) + 1)
    await eventually(() => expect(texts(own)).toHaveLength(all.length))
    expect(texts(own)).toEqual(all)
  }

  client.close()
})

test('a listener that takes over before the first was answered hears everything', async () => {
  await using pair = await startPair({ hasRedis: false })
  const { app, people } = await pair.here.chatWith(1)
  const [ann] = people
  const connected = Promise.withResolvers<void>()
  const status = ({ state }: Status) => void (state === 'connected' && connected.resolve())
  // This node has to load the app first.
  const client = new RealtimeClient({ url: pair.there.url, token: () => ann.token, status, WebSocket: Ws })
  await connected.promise
  const heard: RealtimeEvent[] = []

  client.subscribe(Number(app), { event: () => {} })
  const subscription = client.subscribe(Number(app), { event: event => void heard.push(event) })
  await eventually(() => expect(subscription.rev).toBeDefined())
  await ann.post(`/api/apps/${app}/messages`, { text: 'hello' })

  await eventually(() => expect(texts(heard)).toEqual(['hello']))
  client.close()
})

test('a listener that comes after another has ended hears what it asked for, whatever that one is still told', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  const client = new RealtimeClient({ url: server.url, token: () => ann.token, WebSocket: Ws })
  const first = client.subscribe(Number(app), { event: () => {} })
  await eventually(() => expect(first.rev).toBeDefined())
  const start = first.rev!
  for (const text of ['one', 'two']) await ann.post(`/api/apps/${app}/messages`, { text })
  // Keeps the app at hand, so that each subscription is answered at once.
  await using witness = await listen(server.url, { token: ann.token })
  await witness.subscribe(app)
  const heard: RealtimeEvent[] = []

  first.end()
  client.subscribe(Number(app), { event: () => {} }).end()
  client.subscribe(Number(app), { event: event => void heard.push(event) }, start)

  await eventually(() => expect(texts(heard)).toEqual(['one', 'two']))
  client.close()
})

test('a subscription that was replaced ends nothing but itself', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  const client = new RealtimeClient({ url: server.url, token: () => ann.token, WebSocket: Ws })
  const heard: RealtimeEvent[] = []
  const first = client.subscribe(Number(app), { event: () => {} })
  const second = client.subscribe(Number(app), { event: event => void heard.push(event) })
  await eventually(() => expect(second.rev).toBeDefined())

  first.end()
  await ann.post(`/api/apps/${app}/messages`, { text: 'one' })

  await eventually(() => expect(texts(heard)).toEqual(['one']))
  client.close()
})

test('each connection that works is resumed soon when it is lost, however often that happened before', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await using network = await createNetwork(server.url)
  const waits: number[] = []
  let connections = 0
  const status = (now: Status) => {
    if (now.state === 'connected') connections++
    if (now.state === 'waiting') waits.push(now.delayMs)
  }
  vi.spyOn(Math, 'random').mockReturnValue(0.1)
  const client = new RealtimeClient({ url: network.url, token: () => ann.token, status, WebSocket: Ws })

  for (let round = 1; round <= 4; round++) {
    await eventually(() => expect(connections).toBe(round))
    network.cut()
    await eventually(() => expect(waits).toHaveLength(round))
  }

  expect(new Set(waits)).toEqual(new Set([25]))
  client.close()
})

test('a client goes on where another one stopped', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  const sockets: WebSocket[] = []
  const listen = (after?: number) => {
    const heard: RealtimeEvent[] = []
    const client = new RealtimeClient({ url: server.url, token: () => ann.token, WebSocket: keptIn(sockets) })
    return { client, heard, subscription: client.subscribe(Number(app), { event: e => void heard.push(e) }, after) }
  }
  const first = listen()
  await eventually(() => expect(first.subscription.rev).toBeDefined())
  await ann.post(`/api/apps/${app}/messages`, { text: 'one' })
  await eventually(() => expect(texts(first.heard)).toEqual(['one']))
  first.client.close()
  await eventually(() => expect(sockets[0]?.readyState).toBe(WebSocket.CLOSED))

  await ann.post(`/api/apps/${app}/messages`, { text: 'two' })
  const second = listen(first.subscription.rev)

  await eventually(() => expect(texts(second.heard)).toEqual(['two']))
  second.client.close()
})

test('a token that was revoked is replaced, and nothing is missed meanwhile', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const heard: RealtimeEvent[] = []
  let token = ben.token
  const asked: boolean[] = []
  const fetchToken = async (isRefused: boolean) => {
    asked.push(isRefused)
    if (isRefused) token = (await server.admin.post(`/api/users/${ben.id}/tokens`)).body.access_token
    return token
  }
  const client = new RealtimeClient({ url: server.url, token: fetchToken, WebSocket: Ws })
  const subscription = client.subscribe(Number(app), { event: event => void heard.push(event) })
  await eventually(() => expect(subscription.rev).toBeDefined())

  await server.admin.delete(`/api/users/${ben.id}/tokens`)
  await ann.post(`/api/apps/${app}/messages`, { text: 'did you hear?' })

  await eventually(() => expect(texts(heard)).toEqual(['did you hear?']))
  expect(asked).toEqual([false, true])
  client.close()
})

test('a refused token is asked to be replaced until another one is there', async () => {
  await using server = await startServer()
  const ben = await server.person()
  const answers = [() => ben.token, () => Promise.reject(new Error('nobody is there')), () => '<html>502</html>']
  const asked: boolean[] = []
  const states: string[] = []
  const fetchToken = async (isRefused: boolean) => {
    asked.push(isRefused)
    return (answers.shift() ?? renew)()
  }
  const renew = async () => (await server.admin.post(`/api/users/${ben.id}/tokens`)).body.access_token as string
  const status = ({ state }: Status) => void states.push(state)
  const client = new RealtimeClient({ url: server.url, token: fetchToken, status, WebSocket: Ws })
  await eventually(() => expect(states).toEqual(['connected']))

  await server.admin.delete(`/api/users/${ben.id}/tokens`)

  await eventually(() => expect(states).toEqual(['connected', 'waiting', 'waiting', 'waiting', 'connected']))
  expect(asked).toEqual([false, true, true, true])
  client.close()
})

test('an answer that is no token is asked for again after a pause', async () => {
  await using server = await startServer()
  const ann = await server.person()
  const answers = ['<html>502 Bad Gateway</html>\n', `${ann.token}\n`]
  const states: string[] = []
  const client = new RealtimeClient({
    url: server.url,
    token: () => answers.shift() ?? ann.token,
    status: ({ state }) => void states.push(state),
    WebSocket: Ws,
  })

  await eventually(() => expect(states).toEqual(['waiting', 'waiting', 'connected']), { timeoutMs: 10_000 })
  client.close()
})

test.each([
  ['is right', 0],
  ['runs ahead', 7_200_000],
  ['runs behind', -7_200_000],
])('where the clock %s, a token is renewed once, before it ends, on the same connection', async (_, aheadMs) => {
  await using server = await startServer()
  const rightNow = Date.now
  vi.spyOn(Date, 'now').mockImplementation(() => rightNow() + aheadMs)
  const ann = await server.person()
  const issue = async (seconds: number) =>
    (await server.admin.post(`/api/users/${ann.id}/tokens`, { expires_in: seconds })).body.access_token as string
  const states: string[] = []
  let renewals = 0
  const client = new RealtimeClient({
    url: server.url,
    token: isRefused => (isRefused ? (renewals++, issue(3600)) : issue(3)),
    status: ({ state }) => void states.push(state),
    WebSocket: Ws,
  })

  await eventually(() => expect(renewals).toBe(1))
  const endsAt = Date.now() + 2_000
  // The server ends connections within a second of their token.
  await eventually(() => expect(Date.now()).toBeGreaterThan(endsAt + 1_000))

  expect(states).toEqual(['connected'])
  expect(renewals).toBe(1)
  client.close()
})

test('who may not hear of an app is told so once, and of all others hears on', async () => {
  await using server = await startServer()
  const { app, stranger } = await server.chatWith(1)
  const { body: own } = await stranger.post('/api/apps', { type: 'chat_room' })
  await using network = await createNetwork(server.url)
  const reasons: string[] = []
  let connections = 0
  const status = ({ state }: Status) => void (state === 'connected' && connections++)
  const client = new RealtimeClient({ url: network.url, token: () => stranger.token, status, WebSocket: Ws })
  const heard: RealtimeEvent[] = []
  client.subscribe(Number(app), { event: () => {}, ended: reason => void reasons.push(reason) })
  client.subscribe(Number(own.id), { event: event => void heard.push(event) })
  await eventually(() => expect(reasons).toEqual(['not-found']))

  network.cut()
  await eventually(() => expect(connections).toBe(2))
  await stranger.post(`/api/apps/${own.id}/messages`, { text: 'one' })
  await eventually(() => expect(texts(heard)).toEqual(['one']))

  expect(reasons).toEqual(['not-found'])
  client.close()
})

test('a client that is refused for good stays away', async () => {
  await using server = await startServer()
  const states: Status[] = []
  const client = new RealtimeClient({
    url: server.url,
    token: () => server.key,
    status: status => void states.push(status),
    WebSocket: Ws,
  })

  await eventually(() => expect(states).toEqual([{ state: 'closed', code: 4403 }]))
  client.close()
})

test('whoever asks for what follows a rev that there is not is told to load the app, and hears what comes', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  const heard: RealtimeEvent[] = []
  const resets: number[] = []
  const client = new RealtimeClient({ url: `${server.url}/`, token: () => ann.token, WebSocket: Ws })
  const listener = {
    event: (event: RealtimeEvent) => void heard.push(event),
    reset: (rev: number) => void resets.push(rev),
  }

  const subscription = client.subscribe(Number(app), listener, 1_000_000_000)
  await eventually(() => expect(resets).toEqual([subscription.rev]))
  await ann.post(`/api/apps/${app}/messages`, { text: 'hello' })

  await eventually(() => expect(texts(heard)).toEqual(['hello']))
  client.close()
})

test('what is listened to no more takes no room, also where it ended before the connection was there', async () => {
  await using server = await startServer({ SESSION_SUBSCRIPTIONS: '1' })
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  const rooms = [0, 1].map(() => ann.post('/api/apps', { type: 'chat_room' }).then(({ body }) => Number(body.id)))
  const reasons: string[] = []
  const client = new RealtimeClient({ url: server.url, token: () => ann.token, WebSocket: Ws })
  const listenTo = (id: number) => client.subscribe(id, { event: () => {}, ended: reason => void reasons.push(reason) })

  const early = listenTo(Number(app))
  await nextTurn()
  early.end()
  for (const id of await Promise.all(rooms)) {
    const subscription = listenTo(id)
    await eventually(() => expect(subscription.rev).toBeDefined())
    subscription.end()
  }

  expect(reasons).toEqual([])
  client.close()
})

test('a token that lives longer than timers can wait is asked for once', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  const { body } = await server.admin.post(`/api/users/${ann.id}/tokens`, { expires_in: 90 * 86_400 })
  const asked: boolean[] = []
  const heard: RealtimeEvent[] = []
  const token = (isRefused: boolean) => (asked.push(isRefused), body.access_token as string)
  const client = new RealtimeClient({ url: server.url, token, WebSocket: Ws })
  const subscription = client.subscribe(Number(app), { event: event => void heard.push(event) })
  await eventually(() => expect(subscription.rev).toBeDefined())

  await ann.post(`/api/apps/${app}/messages`, { text: 'hello' })
  await eventually(() => expect(texts(heard)).toEqual(['hello']))

  expect(asked).toEqual([false])
  client.close()
})

test('a client that is closed asks for nothing any more, whatever it was waiting for', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const [given, refused] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  const begin = (answer: Promise<string>) => {
    const seen = { states: [] as string[], asked: 0, sockets: [] as WebSocket[] }
    const client = new RealtimeClient({
      // Nobody listens there.
      url: 'http://127.0.0.1:1',
      token: () => (seen.asked++, answer),
      status({ state }) {
        seen.states.push(state)
        if (state === 'waiting') client.close()
      },
      WebSocket: keptIn(seen.sockets),
    })
    return { client, seen }
  }
  const all = [begin(given.promise), begin(refused.promise), begin(Promise.resolve('secret'))]
  for (const { client } of all.slice(0, 2)) client.close()

  given.resolve('secret')
  refused.reject(new Error('nobody gives out tokens'))
  await eventually(() => expect(all[2]!.seen.states).toEqual(['waiting', 'closed']))
  // Its pause would have been this short.
  for (let turn = 0; turn < 3; turn++) await delay(1)

  expect(all.map(({ seen: { states, asked, sockets } }) => ({ states, asked, sockets: sockets.length }))).toEqual([
    { states: ['closed'], asked: 1, sockets: 0 },
    { states: ['closed'], asked: 1, sockets: 0 },
    { states: ['waiting', 'closed'], asked: 1, sockets: 1 },
  ])
})

test('a listener sees an agent at work, its draft as it grows, and then the answer itself', async () => {
  await using server = await startServer()
  await makeAgent(server, { model: 'script' })
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  const heard: (RealtimeEvent | AgentRun)[] = []
  const drafts: string[] = []
  const client = new RealtimeClient({ url: server.url, token: () => ann.token, WebSocket: Ws })
  const subscription = client.subscribe(Number(app), {
    event: event => void heard.push(event),
    run: run => void heard.push(run),
    delta: (_, text, whole) => void drafts.push(whole.endsWith(text) ? whole : 'torn'),
  })
  await eventually(() => expect(subscription.rev).toBeDefined())

  await ann.post(`/api/apps/${app}/messages`, { text: 'say First\nwait 1\nsay Second' })
  const isEnd = (one: RealtimeEvent | AgentRun) => 'state' in one && one.state === 'done'
  await eventually(() => expect(heard.some(isEnd)).toBe(true))

  const answer = heard.find(one => 'event' in one && one.actor.is_agent === true) as RealtimeEvent
  const text = answer.event === 'message_created' ? answer.message.text : ''
  expect(heard.indexOf(answer)).toBeLessThan(heard.findIndex(isEnd))
  expect(heard.find(isEnd)).toMatchObject({ agent: { uid: 'assistant' }, reply: { type: 'message' } })
  expect(drafts[0]).toContain('First')
  expect(drafts.at(-1)!.trim()).toBe(text)
  client.close()
})

test('what is no id of an app is refused at once: nothing would ever be heard of it', () => {
  const client = new RealtimeClient({ url: 'http://127.0.0.1:1', token: () => 'none', WebSocket: Ws })
  const listener = { event: () => {} }

  expect(() => client.subscribe('garden', listener)).toThrow('the id of an app')
  expect(() => client.subscribe(0, listener)).toThrow('the id of an app')
  expect(client.subscribe('12', listener).rev).toBeUndefined()
  client.close()
})
