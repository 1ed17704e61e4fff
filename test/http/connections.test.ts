import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { reply, route } from '../../src/http/route.ts'
import { startEdge } from '../support/edge.ts'
import { eventually } from '../support/eventually.ts'
import { requestText, Wire } from '../support/wire.ts'

const quick = route('GET /api/quick', {
  summary: 'Answer at once',
  auth: 'none',
  replies: { 200: z.object({}) },
  handle: () => reply(200, { done: true }),
})

const largeBytes = 250_000

/** Answers with more than the buffers of a connection hold, at once or later. */
const large = (path: string, isLater: boolean, text = 'x'.repeat(largeBytes)) =>
  route(`GET ${path}`, {
    summary: 'Answer with a lot',
    auth: 'none',
    replies: { 200: z.string() },
    handle: isLater ? () => delay(50, reply(200, text)) : () => reply(200, text),
  })

/** A route that answers when the test says so. */
function gated() {
  const gate = Promise.withResolvers<void>()
  let begun = 0
  const slow = route('POST /api/slow', {
    summary: 'Answer when the gate opens',
    auth: 'none',
    body: z.object({}),
    replies: { 200: z.object({}) },
    async handle() {
      begun++
      await gate.promise
      return reply(200, { done: true })
    },
  })
  return { slow, open: gate.resolve, begun: () => eventually(() => expect(begun).toBeGreaterThan(0)) }
}

const json = { 'Content-Type': 'application/json' }

test('an answer to somebody who has gone away is dropped, and the server goes on', async () => {
  const { slow, open, begun } = gated()
  await using edge = await startEdge([quick, slow])
  const wire = await Wire.open(edge.port)
  await wire.send(requestText('POST', '/api/slow', json, '{}'))
  await begun()

  wire.destroy()
  await eventually(() => expect(edge.edge.open).toBe(0))
  open()

  expect((await edge.get('/api/quick')).status).toBe(200)
  expect(edge.logged).toEqual([])
})

test('a request that is broken off in the middle of its body reaches no handler', async () => {
  let calls = 0
  const { slow } = gated()
  await using edge = await startEdge([{ ...slow, handle: () => reply(200, { calls: ++calls }) }])
  const wire = await Wire.open(edge.port)
  await wire.send(requestText('POST', '/api/slow', { ...json, 'Content-Length': '100' }, ''))
  await wire.send('{"text":')
  await eventually(() => expect(edge.edge.open).toBe(1))

  wire.destroy()

  await eventually(() => expect(edge.edge.open).toBe(0))
  expect(calls).toBe(0)
})

test('requests sent without waiting are answered in order where the answers need no waiting', async () => {
  await using edge = await startEdge([quick])
  const wire = await Wire.open(edge.port)

  await wire.send(requestText('GET', '/api/quick') + requestText('GET', '/nowhere') + requestText('GET', '/api/quick'))

  expect([await wire.answer(), await wire.answer(), await wire.answer()].map(({ status }) => status)).toEqual([
    200, 404, 200,
  ])
})

test('a request sent before a slow one was answered ends the connection, and nothing else', async () => {
  const { slow, open } = gated()
  await using edge = await startEdge([quick, slow])
  const wire = await Wire.open(edge.port)

  await wire.send(requestText('POST', '/api/slow', json, '{}') + requestText('GET', '/api/quick'))

  expect(await wire.closed()).toBe('closed')
  open()
  expect((await edge.get('/api/quick')).status).toBe(200)
})

test('a connection serves one request after the other', async () => {
  await using edge = await startEdge([quick])
  const wire = await Wire.open(edge.port)

  for (let i = 0; i < 100; i++) {
    await wire.send(requestText('GET', '/api/quick'))
    expect((await wire.answer()).status).toBe(200)
  }
})

test.each([false, true])(
  'a large answer arrives whole, and leaves the connection usable (later: %s)',
  async isLater => {
    await using edge = await startEdge([quick, large('/api/large', isLater)])
    const wire = await Wire.open(edge.port)

    await wire.send(requestText('GET', '/api/large'))

    expect((await wire.answer()).body.length).toBe(largeBytes)
    await wire.send(requestText('GET', '/api/quick'))
    expect((await wire.answer()).status).toBe(200)
    expect(edge.edge.open).toBe(0)
  },
)

test('each request is counted once, whenever its client leaves', async () => {
  await using edge = await startEdge([large('/api/large', false), large('/api/later', true)])
  const both = requestText('GET', '/api/large') + requestText('GET', '/api/later')

  // They leave at all stages of two answers, which nobody but the server knows.
  const clients = Array.from({ length: 800 }, async (_, i) => {
    await delay(i * 2)
    const wire = await Wire.open(edge.port)
    await wire.send(both)
    await delay(i % 97)
    wire.destroy()
  })
  await Promise.all(clients)
  await edge.edge.close(5000)

  expect(edge.edge.open).toBe(0)
})

test('headers may take 60 KiB, and more are 431', async () => {
  await using edge = await startEdge([quick])
  const [large, tooLarge] = [await Wire.open(edge.port), await Wire.open(edge.port)]

  await large.send(requestText('GET', '/api/quick', { Cookie: 'x'.repeat(60_000) }))
  await tooLarge.send(requestText('GET', '/api/quick', { Cookie: 'x'.repeat(70_000) }))

  expect((await large.answer()).status).toBe(200)
  expect((await tooLarge.answer()).status).toBe(431)
  expect(await tooLarge.closed()).toBe('closed')
})

test.each([
  ['no HTTP at all', 'hello there\r\n\r\n'],
  ['TLS to a plain port', Buffer.from('16030100ce010000ca0303', 'hex')],
  ['a request without a host', 'GET /api/quick HTTP/1.1\r\nAccept: text/html\r\n\r\n'],
  ['a length that is no number', 'POST /api/slow HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n'],
  [
    'a length beside chunks',
    'POST /api/slow HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['chunks that are none', 'POST /api/slow HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n'],
])('%s ends the connection, and the server goes on', async (_, bytes) => {
  const { slow } = gated()
  await using edge = await startEdge([quick, slow])
  const wire = await Wire.open(edge.port)

  await wire.send(bytes)

  expect(await wire.closed()).toBe('closed')
  expect((await edge.get('/api/quick')).status).toBe(200)
  expect(edge.edge.open).toBe(0)
})

test('a value that would smuggle in a header is a bug and not sent', async () => {
  const inject = route('GET /api/inject', {
    summary: 'Try',
    auth: 'none',
    replies: { 200: z.object({}) },
    handle: () => reply(200, {}, { 'Content-Disposition': 'attachment; filename="a\r\nSet-Cookie: b=c"' }),
  })
  await using edge = await startEdge([inject])

  const { status, headers } = await edge.get('/api/inject')

  expect(status).toBe(500)
  expect(headers.has('set-cookie')).toBe(false)
})

test('closing lets open requests finish, and takes no new connections', async () => {
  const { slow, open, begun } = gated()
  const edge = await startEdge([quick, slow])
  const answer = edge.post('/api/slow', {})
  await begun()

  const closed = edge.edge.close(5000)
  await eventually(() => expect(Wire.open(edge.port)).rejects.toThrow('ECONNREFUSED'))
  open()

  expect((await answer).status).toBe(200)
  await closed
  expect(edge.edge.open).toBe(0)
})

test('a body that is still coming when closing begins is waited for, and its answer is sent whole', async () => {
  const { slow } = gated()
  const edge = await startEdge([{ ...slow, handle: () => reply(200, { done: true }) }])
  const wire = await Wire.open(edge.port)
  await wire.send(requestText('POST', '/api/slow', { ...json, 'Content-Length': '2' }))
  await eventually(() => expect(edge.edge.open).toBe(1))

  const closed = edge.edge.close(5000)
  await wire.send('{}')

  expect(await wire.answer()).toMatchObject({ status: 200, body: '{"done":true}' })
  await closed
})

test('a request on a connection that was kept alive is answered while closing, and its connection ended', async () => {
  const { slow, open, begun } = gated()
  const edge = await startEdge([quick, slow])
  const [busy, idle] = [await Wire.open(edge.port), await Wire.open(edge.port)]
  await idle.send(requestText('GET', '/api/quick'))
  await idle.answer()
  await busy.send(requestText('POST', '/api/slow', json, '{}'))
  await begun()

  await edge.edge.stopListening()
  const closed = edge.edge.close(5000)
  await idle.send(requestText('GET', '/api/quick'))

  expect(await idle.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } })
  expect(await idle.closed()).toBe('closed')
  open()
  expect((await busy.answer()).status).toBe(200)
  await closed
})

test(
  'every request that reaches a handler is answered, however many come in while closing',
  { timeout: 20_000 },
  async () => {
    for (let round = 0; round < 20; round++) {
      let handled = 0
      const { slow } = gated()
      const handle = () => delay(handled++ % 3, reply(200, { done: true }))
      const edge = await startEdge([{ ...slow, handle }])
      const talk = async (gapMs: number): Promise<number> => {
        const wire = await Wire.open(edge.port)
        for (let answers = 0; ; answers++) {
          await wire.send(requestText('POST', '/api/slow', json, '{}'))
          const answer = await wire.answer().catch(() => null)
          if (answer === null) return answers
          if (answer.headers.connection === 'close') return answers + 1
          await delay(gapMs)
        }
      }
      const talks = Array.from({ length: 32 }, (_, i) => talk(i % 11))
      await eventually(() => expect(handled).toBeGreaterThan(100))

      await edge.edge.close(5000)

      const answered = await Promise.all(talks)
      expect(answered.reduce((sum, count) => sum + count)).toBe(handled)
    }
  },
)

test('closing waits until a large answer has been taken', async () => {
  const size = 8_000_000
  const edge = await startEdge([large('/api/huge', false, 'x'.repeat(size))])
  const wire = await Wire.open(edge.port)
  wire.pause()
  await wire.send(requestText('GET', '/api/huge'))
  await eventually(() => expect(edge.edge.open).toBe(1))

  const closed = edge.edge.close(5000)
  wire.resume()

  expect((await wire.answer()).body.length).toBe(size)
  await closed
})

test('closing waits no longer than it may for a request that does not end', async () => {
  const { slow, begun } = gated()
  const edge = await startEdge([slow])
  const wire = await Wire.open(edge.port)
  await wire.send(requestText('POST', '/api/slow', json, '{}'))
  await begun()

  await edge.edge.close(50)

  expect(await wire.closed()).toBe('closed')
})

test('closing an edge that is idle ends the connections that were kept alive', async () => {
  const edge = await startEdge([quick])
  const wire = await Wire.open(edge.port)
  await wire.send(requestText('GET', '/api/quick'))
  await wire.answer()

  await edge.edge.close(5000)

  expect(await wire.closed()).toBe('closed')
})

test('a port that is taken is named, with the way out', async () => {
  await using other = await startEdge([quick])
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const edge = await startEdge([quick])

  await expect(edge.edge.listen(other.port, '127.0.0.1')).rejects.toThrow(
    `Port ${other.port} on 127.0.0.1 is taken by another program. Stop that program, or choose another port with PORT.`,
  )
  await expect(edge.edge.listen(port, '127.0.0.1')).rejects.toThrow('is taken by another program')
  await expect(edge.edge.listen(0, '192.0.2.1')).rejects.toThrow('192.0.2.1 is not an address of this machine.')
  server.close()
  await edge.edge.close(0)
})

test('a client is told for how long an idle connection is kept, and it is kept for that long', async () => {
  await using edge = await startEdge([quick])
  const wire = await Wire.open(edge.port)
  const agent = new Agent({ keepAlive: true })
  const ask = async () => {
    const asked = request(`${edge.url}/version`, { agent }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    await once(answer.resume(), 'end')
    return answer.statusCode
  }

  await ask()
  await wire.send(requestText('GET', '/version'))
  const { headers } = await wire.answer()
  const answeredAt = performance.now()

  expect(headers['keep-alive']).toBe('timeout=8')
  expect(await wire.closed()).toBe('closed')
  expect(performance.now() - answeredAt).toBeGreaterThan(7_900)
  // Node.js has ended its own before the server would have.
  await eventually(() => expect(agent.freeSockets).toEqual({}))
  expect(await ask()).toBe(200)
  agent.destroy()
})
