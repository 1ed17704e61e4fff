import { WebSocket } from 'ws'
import { afterEach, expect, test, vi } from 'vitest'
import { createParley, type ConnectionStatus, type WebSocketType } from '../../src/client/index.ts'
import { createFaultProxy } from '../../src/client/testing/index.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/server.ts'

afterEach(() => void vi.restoreAllMocks())

/** WebSockets whose frames the test can read. */
function spying() {
  const said: { type: string; apps?: unknown[] }[] = []
  const Type = class extends WebSocket {
    override send(text: string): void {
      said.push(JSON.parse(text))
      super.send(text)
    }
  } as unknown as WebSocketType
  return { said, Type }
}

test('a hundred subscriptions to an app cost one, and 5 seconds after the last one none is left', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const { said, Type } = spying()
  const parley = createParley({ url: server.url, token: people[0].token, WebSocket: Type })
  const states: string[] = []
  parley.connection.subscribe(({ state }) => void states.push(state))
  const { messages, members } = parley.app(app)

  // As a component does that is mounted, unmounted and mounted again.
  for (let i = 0; i < 100; i++) {
    for (const collection of [messages, members]) collection.subscribe(() => {})()
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  const stops = Array.from({ length: 100 }, () => messages.subscribe(() => {}))
  await eventually(() => expect(messages.get().status).toBe('live'))
  expect(said.filter(({ type }) => type === 'subscribe')).toHaveLength(1)
  for (const stop of stops) stop()
  expect(said.filter(({ type }) => type === 'unsubscribe')).toEqual([])

  await eventually(() => expect(states.at(-1)).toBe('idle'), { timeoutMs: 10_000 })
  expect(messages.get()).toMatchObject({ status: 'stale', reason: 'paused' })
})

test('each subscriber hears of each change, and one may end within its own listener', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const parley = createParley({ url: server.url, token: people[0].token })
  const { messages } = parley.app(app)
  const heard: [string[], string[]] = [[], []]
  const text = () => messages.get().data.at(-1)?.text ?? ''
  const stop = messages.subscribe(({ status }) => {
    if (status !== 'live') return
    heard[0].push(text())
    stop()
  })
  messages.subscribe(({ status }) => void (status === 'live' && heard[1].push(text())))

  await eventually(() => expect(heard[1]).toContain(''))
  await messages.send({ text: 'one' })

  await eventually(() => expect(heard[1]).toContain('one'))
  expect(heard[0]).toEqual([''])
  parley.close()
})

test('500 apps are live again soon after a cut, by two frames', async () => {
  await using server = await startServer({ RATE_LIMIT_PER_MINUTE: '0' })
  const ann = await server.person('Ann')
  await using proxy = await createFaultProxy(server.url)
  const apps: string[] = []
  for (let i = 0; i < 500; i++) {
    const { body } = await server.admin.post('/api/apps', { type: 'chat_room', members: [ann.id] })
    apps.push(body.id)
  }
  const { said, Type } = spying()
  const parley = createParley({ url: proxy.url, token: ann.token, WebSocket: Type })
  const collections = apps.map(app => parley.app(app).messages)
  for (const collection of collections) collection.subscribe(() => {})
  const areLive = () => collections.every(collection => collection.get().status === 'live')
  await eventually(() => expect(areLive()).toBe(true), { timeoutMs: 30_000 })

  said.length = 0
  const startedAt = performance.now()
  proxy.cut()
  await eventually(() => expect(areLive()).toBe(false))
  await server.admin.post(`/api/apps/${apps[250]}/messages`, { text: 'meanwhile' })
  await eventually(() => expect(areLive()).toBe(true), { everyMs: 5 })

  expect(said.filter(({ type }) => type === 'subscribe')).toHaveLength(2)
  // Alone on a machine of two cores, less than two seconds.
  expect(performance.now() - startedAt).toBeLessThan(10_000)
  await eventually(() => expect(collections[250]!.get().data.at(-1)?.text).toBe('meanwhile'))
  parley.close()
})

test('a page that slept for ten minutes with a token that ended is live within two seconds of waking', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await using proxy = await createFaultProxy(server.url)
  const given: boolean[] = []
  let token = ann.token
  const parley = createParley({
    url: proxy.url,
    token: isRefused => {
      given.push(isRefused)
      return token
    },
  })
  const { messages } = parley.app(app)
  messages.subscribe(() => {})
  await eventually(() => expect(messages.get().status).toBe('live'))
  proxy.silence()
  await server.admin.delete(`/api/users/${ann.id}/tokens`)
  await ben.post(`/api/apps/${app}/messages`, { text: 'while you slept' })
  token = (await server.admin.post(`/api/users/${ann.id}/tokens`)).body.access_token
  proxy.restore()

  const now = Date.now.bind(Date)
  vi.spyOn(Date, 'now').mockImplementation(() => now() + 600_000)
  const wokenAt = performance.now()
  await eventually(() => expect(messages.get().data.at(-1)?.text).toBe('while you slept'), { everyMs: 10 })

  expect(messages.get().status).toBe('live')
  expect(performance.now() - wokenAt).toBeLessThan(2_000)
  expect(given.length).toBeGreaterThan(1)
  parley.close()
})

test('a token that cannot be had is said in the status, in collections and once on the console, and asked for again', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
  let isThere = false
  let asked = 0
  const parley = createParley({
    url: server.url,
    token: () => {
      asked++
      if (!isThere) throw new Error('The sign-in is away')
      return people[0].token
    },
  })
  const states: ConnectionStatus[] = []
  parley.connection.subscribe(status => void states.push(status))
  const { messages } = parley.app(app)
  messages.subscribe(() => {})

  await eventually(() => expect(asked).toBeGreaterThan(2))
  const error = { message: 'The sign-in is away', code: 'token' }
  expect(states.find(({ state }) => state === 'waiting')).toMatchObject({ error })
  expect(messages.get()).toMatchObject({ status: 'loading', error })
  expect(warned).toHaveBeenCalledTimes(1)
  isThere = true

  await eventually(() => expect(messages.get().status).toBe('live'))
  expect(messages.get().error).toBeUndefined()
  parley.close()
})

test('HTTP and the connection share a token, and one request for it', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  let asked = 0
  const parley = createParley({
    url: server.url,
    token: async () => {
      asked++
      await new Promise(resolve => setTimeout(resolve, 20))
      return people[0].token
    },
  })
  const { messages } = parley.app(app)
  messages.subscribe(() => {})

  await Promise.all([parley.users.me(), parley.users.me(), messages.send({ text: 'x' })])
  await eventually(() => expect(messages.get().status).toBe('live'))

  expect(asked).toBe(1)
  parley.close()
})

test('an app that is not there ends its collections alone', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const parley = createParley({ url: server.url, token: people[0].token })
  const [there, missing] = [parley.app(app).messages, parley.app('nowhere').messages]
  for (const collection of [there, missing]) collection.subscribe(() => {})

  await eventually(() => expect([there.get().status, missing.get().status]).toEqual(['live', 'ended']))

  expect(missing.get()).toMatchObject({ reason: 'not-found', error: { status: 404 } })
  parley.close()
})
