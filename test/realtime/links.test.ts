import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { ClientOrigins } from '../../src/realtime/sessions/client-origins.ts'
import { findCodec } from '../../src/realtime/protocols/protocol.ts'
import type { Body } from '../support/client.ts'
import { Listener } from '../support/realtime.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

/** Somebody who reaches the server under this name. */
async function come(server: Server, host: string, protocol: 'json' | 'msgpack', { token }: Person): Promise<Listener> {
  const address = `${server.url.replace('http', 'ws')}/api/realtime`
  const inbox = new Listener(
    new WebSocket(address, [protocol, `bearer.${token}`], { headers: { host } }),
    protocol === 'msgpack',
  )
  await inbox.hear('welcome')
  return inbox
}

async function sendFile(app: string, by: Person): Promise<void> {
  const { body: blob } = await upload(by, { name: 'plan.txt', content: 'one', type: 'text/plain' })
  await by.post(`/api/apps/${app}/messages`, { text: 'the plan', blobs: [blob.id] })
}

const linkIn = (event: Body) => new URL(event.message.attachments.data[0].download_url).origin

test('links lead to where each client came in, live and when it comes back', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await using json = await come(server, 'chat.lan', 'json', ben)
  await using same = await come(server, 'chat.lan', 'json', ann)
  await using msgpack = await come(server, 'chat.lan', 'msgpack', ben)
  await using other = await come(server, 'office.example:8080', 'json', ben)
  const { rev } = await json.subscribe(app)
  for (const inbox of [same, msgpack, other]) await inbox.subscribe(app)

  await sendFile(app, ann)

  const live = []
  for (const inbox of [json, same, msgpack, other]) live.push(linkIn((await inbox.take(1))[0]))
  const late = []
  for (const host of ['chat.lan', 'home.example']) {
    await using inbox = await come(server, host, 'json', ben)
    await inbox.subscribe(app, rev)
    late.push(linkIn((await inbox.take(1))[0]))
  }
  expect(live).toEqual(['http://chat.lan', 'http://chat.lan', 'http://chat.lan', 'http://office.example:8080'])
  expect(late).toEqual(['http://chat.lan', 'http://home.example'])
})

test.each([
  ['what the client asked for', {}, 'http://chat.lan'],
  ['PUBLIC_URL', { PUBLIC_URL: 'https://chat.example' }, 'https://chat.example'],
])('on the hub links lead to %s', async (_, settings, origin) => {
  await using server = await startServer(settings)
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  const address = `${server.url.replace('http', 'ws')}/hubs/rtm?access_token=${ann.token}`
  const socket = new WebSocket(address, { headers: { host: 'chat.lan' } })
  const heard = Promise.withResolvers<Body>()
  socket.on('open', () => {
    socket.send('{"protocol":"json","version":1}\x1e')
    socket.send(
      JSON.stringify({ type: 1, invocationId: '0', target: 'Subscribe', arguments: [`a${app}:message_created`] }) +
        '\x1e',
    )
  })
  socket.on('message', (data: Buffer) => {
    const records = data
      .toString()
      .split('\x1e')
      .filter(Boolean)
      .map(text => JSON.parse(text))
    if (records.some(({ type }) => type === 3)) void sendFile(app, ann)
    for (const { type, arguments: args } of records) if (type === 1) heard.resolve(args[0])
  })

  expect(linkIn(await heard.promise)).toBe(origin)
  socket.terminate()
})

test('frames are written for a few addresses at a time, whatever clients ask for', () => {
  const addresses = new ClientOrigins(() => 'http://localhost')
  const arrive = (origin: string) => addresses.acquire(origin, new Set())
  const few = Array.from({ length: 100 }, (_, i) => arrive(`http://host-${i}.example`))
  const known = arrive('http://host-0.example')

  expect(known).toBe(few[0])
  expect(new Set(few).size).toBeLessThan(20)
  expect(few.at(-1)?.origin).toBe('http://localhost')

  for (const address of few) addresses.release(address)
  expect(arrive('http://host-99.example').origin).toBe('http://host-99.example')
})

test('an address is one and the same for as long as anybody came under it, and writes each frame once', () => {
  const addresses = new ClientOrigins(() => 'http://localhost')
  const arrive = () => addresses.acquire('http://chat.lan', new Set())
  const [first, second] = [arrive(), arrive()]
  const form = findCodec('json', 'number')!
  addresses.release(first)
  const third = arrive()
  for (const address of [second, third]) addresses.release(address)
  const later = arrive()

  expect([second === first, third === first]).toEqual([true, true])
  expect(third.codec(form)).toBe(second.codec(form))
  expect(later).not.toBe(first)
  // Whoever is told by the topic of the one is not told by that of the other.
  expect(later.codec(form).topic(1, 'event')).not.toBe(first.codec(form).topic(1, 'event'))
})

test('strangers take no address from anybody, and nobody takes more than three', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const address = `${server.url.replace('http', 'ws')}/api/realtime`
  const hosts = Array.from({ length: 20 }, (_, i) => `h${i}.example`)
  const strangers = hosts.map(host => new WebSocket(address, 'json', { headers: { host } }))
  await Promise.all(strangers.map(stranger => once(stranger, 'open')))
  const many = await Promise.all(hosts.map(host => come(server, host, 'json', ann)))
  await using inbox = await come(server, 'chat.lan', 'json', ben)
  for (const one of [inbox, ...many]) await one.subscribe(app)

  await sendFile(app, ann)

  expect(linkIn((await inbox.take(1))[0])).toBe('http://chat.lan')
  const told = new Set(await Promise.all(many.map(async one => linkIn((await one.take(1))[0]))))
  expect(told.size).toBe(4)
  expect(told).toContain(server.url)
  for (const stranger of strangers) stranger.terminate()
  for (const one of many) await one[Symbol.asyncDispose]()
})
