import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createParley, type ClientOptions, type Collection, type Parley } from '../../src/client/index.ts'
import { eventually } from '../support/eventually.ts'
import { findPort } from '../support/port.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

let server: Server
let app: string
let [ann, stranger]: Person[] = []
beforeAll(async () => {
  server = await startServer()
  const chat = await server.chatWith(1)
  app = chat.app
  ann = chat.people[0]
  stranger = chat.stranger
})
afterAll(() => server[Symbol.asyncDispose]())
beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}))

/** A client with a mistake in it, closed at the end. */
async function withClient(options: Partial<ClientOptions>, run: (parley: Parley) => Promise<void>): Promise<void> {
  const parley = createParley({ url: server.url, token: ann!.token, ...options })
  try {
    await run(parley)
  } finally {
    parley.close()
  }
}

/** What becomes of a collection that is subscribed to. */
async function becomes(collection: Collection<unknown>, wanted: object): Promise<void> {
  collection.subscribe(() => {})
  await eventually(() => expect(collection.get()).toMatchObject(wanted))
}

test('a URL that is none is refused at once', () => {
  for (const url of ['', 'chat.example', 'ws://chat.example'])
    expect(() => createParley({ url, token: 'x' })).toThrow(/is no URL/)
})

test('the URL of another server is said to be wrong', async () => {
  const pages = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<p>Hello'))
  await new Promise<void>(resolve => pages.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`

  await withClient({ url }, async ({ http }) => {
    await expect(http.get('/api/user')).rejects.toMatchObject({ code: 'not-json', message: /is the URL right/ })
  })
  pages.close()
})

test('a server that is away is in the way of collections and of rows', async () => {
  await withClient({ url: `http://127.0.0.1:${await findPort()}` }, async parley => {
    const { messages } = parley.app(app)
    await becomes(messages, { status: 'loading' })
    await becomes(parley.apps, { status: 'loading' })
    void messages.send({ text: 'x' }).catch(() => {})
    await eventually(() =>
      expect(messages.get().data[0]).toMatchObject({ state: 'sending', error: { code: 'network' } }),
    )
    messages.get().data[0]!.discard!()
    expect(messages.get().data).toEqual([])
  })
})

test('a token that nobody has, or that is no text, is an error everywhere', async () => {
  const none = (async () => undefined) as unknown as () => Promise<string>
  for (const [token, error] of [
    ['nobody', { status: 401, code: 'unauthorized' }],
    [none, { code: 'token' }],
  ] as const)
    await withClient({ token }, async parley => {
      await becomes(parley.app(app).messages, { status: 'loading', error })
      if (token === 'nobody') await expect(parley.http.get('/api/user')).rejects.toMatchObject(error)
    })
})

test('an app that is not there, is closed, or holds something else ends its collections, and refuses writes', async () => {
  await withClient({ token: stranger!.token }, async parley => {
    for (const ref of ['nowhere', '999999999', app]) {
      const { messages, members, unread } = parley.app(ref)
      for (const collection of [messages, members, unread])
        await becomes(collection, { status: 'ended', reason: 'not-found', error: { status: 404 } })
      await expect(messages.send({ text: 'x' })).rejects.toMatchObject({ status: 404 })
      await expect(parley.app(ref).type()).rejects.toMatchObject({ status: 404 })
      expect(messages.get().data[0]).toMatchObject({ state: 'failed', error: { status: 404 } })
    }
  })
  await withClient({}, async parley => {
    const { posts, messages } = parley.app(app)
    await expect(posts.send({ text: 'x' })).rejects.toMatchObject({ name: 'ParleyError' })
    for (const write of [messages.edit(1, { text: 'x' }), messages.react(1, '👍'), messages.vote(1, 2)])
      await expect(write).rejects.toMatchObject({ status: 404 })
  })
})

test('a member who may only read is told so, and the row stays with what was written', async () => {
  const { body: news } = await server.admin.post('/api/apps', { type: 'chat_room' })
  await server.admin.put(`/api/apps/${news.id}/members/${ann!.id}`, { access: 'read' })
  await withClient({}, async parley => {
    const { messages } = parley.app(news.id)
    await becomes(messages, { status: 'live' })
    await expect(messages.send({ text: 'mine' })).rejects.toMatchObject({ status: 403 })
    const [row] = messages.get().data
    expect(row).toMatchObject({ text: 'mine', state: 'failed' })
    expect(row!.retry).toBeTypeOf('function')
  })
})

test('whatever is asked of a closed client fails, and what waited for it does', async () => {
  const parley = createParley({ url: server.url, token: ann!.token })
  const { messages, members, typing, unread } = parley.app(app)
  const { apps, unread: unreadApps, notifications, presence } = parley
  const collections: Collection<unknown>[] = [messages, members, typing, unread, apps, unreadApps, notifications]
  for (const collection of [...collections, presence]) await becomes(collection, { status: 'live' })
  const waiting = [messages.send({ text: 'one' }), messages.send({ text: 'two' })].map(sending => sending.catch(String))

  parley.close()

  const ended = { status: 'ended', reason: 'closed' }
  for (const collection of [...collections, presence]) expect(collection.get()).toMatchObject(ended)
  await Promise.all(waiting)
  await expect(messages.send({ text: 'three' })).rejects.toMatchObject({ code: 'closed' })
  await expect(parley.http.get('/api/user')).rejects.toMatchObject({ code: 'closed' })
  await expect(parley.apps.pin(1)).rejects.toMatchObject({ code: 'closed' })
  // Whatever is subscribed to only now.
  await becomes(parley.app('another').messages, ended)
  await becomes(parley.app(app).work, ended)
})
