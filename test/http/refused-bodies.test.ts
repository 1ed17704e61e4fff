import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Unauthorized } from '../../src/auth/authentication.ts'
import { Forbidden, overloaded } from '../../src/lib/errors.ts'
import { TooManyRequests } from '../../src/http/request/rate-limit.ts'
import { reply, route, type Reply } from '../../src/http/route.ts'
import { startEdge, type TestEdge } from '../support/edge.ts'
import { requestText, Wire } from '../support/wire.ts'

const mebibyte = 1024 * 1024

/** A route that refuses a file before it has read any of it. */
const refusing = (path: string, refusal: () => Error) =>
  route(`POST /api/${path}`, {
    summary: 'Refuse',
    auth: 'none',
    uploadLimitBytes: 1024 * mebibyte,
    replies: { 204: null },
    handle: (): Promise<Reply<204>> => Promise.reject(refusal()),
  })

const routes = [
  route('POST /api/notes', {
    summary: 'Take a note',
    auth: 'none',
    body: z.object({ text: z.string() }),
    bodyLimitBytes: 1000,
    replies: { 204: null },
    handle: () => reply(204),
  }),
  route('POST /api/uploads', {
    summary: 'Take a file',
    auth: 'none',
    uploadLimitBytes: mebibyte,
    replies: { 204: null },
    async handle({ upload }) {
      for await (const piece of upload!) upload!.recycle(piece.buffer)
      return reply(204)
    },
  }),
  route('POST /api/own', {
    summary: 'Take a file of a known caller',
    auth: 'token',
    uploadLimitBytes: mebibyte,
    replies: { 204: null },
    handle: () => reply(204),
  }),
  refusing('unauthorized', Unauthorized),
  refusing('forbidden', Forbidden),
  refusing('too-many', TooManyRequests),
  refusing('overloaded', () => overloaded()),
]

interface Sending {
  url: string
  method: string
  type: string
  sizeBytes: number
}

const toHeaders = ({ type }: Sending) => ({ 'content-type': type })

/** A body whose length is not known before it ends. */
function* pieces(sizeBytes: number): Generator<Buffer> {
  const piece = Buffer.alloc(64 * 1024, 'x')
  for (let at = 0; at < sizeBytes; at += piece.length) yield piece
}

/** Node's HTTP client. It reads an answer while it is still sending, unless the connection breaks first. */
function send(sending: Sending, write: (to: ReturnType<typeof request>) => void): Promise<number> {
  return new Promise((resolve, reject) => {
    const { url, method } = sending
    const outgoing = request(url, { method, headers: toHeaders(sending), agent: false }, answer => {
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.on('error', reject)
      answer.on('end', () => {
        outgoing.destroy()
        if ((JSON.parse(text) as { status: number }).status === answer.statusCode) resolve(answer.statusCode)
        else reject(new Error(`The answer was ${text}`))
      })
    })
    outgoing.on('error', reject)
    write(outgoing)
  })
}

/** The clients of Node.js, each with a body of known and of unknown length. */
const clients: Record<string, (sending: Sending) => Promise<number>> = {
  async fetch(sending) {
    const { url, method, sizeBytes } = sending
    const answer = await fetch(url, { method, headers: toHeaders(sending), body: Buffer.alloc(sizeBytes, 'x') })
    return ((await answer.json()) as { status: number }).status
  },
  async 'fetch, streaming'(sending) {
    const { url, method, sizeBytes } = sending
    const body = Readable.toWeb(Readable.from(pieces(sizeBytes))) as ReadableStream
    const init = { method, headers: toHeaders(sending), body, duplex: 'half' } as RequestInit
    const answer = await fetch(url, init)
    return ((await answer.json()) as { status: number }).status
  },
  'http.request': sending => send(sending, outgoing => outgoing.end(Buffer.alloc(sending.sizeBytes, 'x'))),
  'http.request, chunked': sending =>
    send(sending, outgoing => Readable.from(pieces(sending.sizeBytes)).pipe(outgoing)),
}

/** A client that reads nothing before it has sent everything. */
async function sendThenRead({ url, method, type, sizeBytes }: Sending): Promise<number> {
  const { hostname, port, pathname } = new URL(url)
  const socket = connect(Number(port), hostname).pause()
  socket.write(`${method} ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: ${type}\r\n`)
  socket.write('Transfer-Encoding: chunked\r\n\r\n')
  for (const piece of pieces(sizeBytes)) {
    socket.write(`${piece.length.toString(16)}\r\n`)
    socket.write(piece)
    if (!socket.write('\r\n')) await once(socket, 'drain')
  }
  socket.write('0\r\n\r\n')
  const [answer] = (await once(socket.resume(), 'data')) as [Buffer]
  socket.destroy()
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer.toString())?.[1])
}

let edge: TestEdge

beforeAll(async () => {
  edge = await startEdge(routes)
})
afterAll(() => edge[Symbol.asyncDispose]())

const cases: [status: number, method: string, path: string, type: string][] = [
  [401, 'POST', '/api/own', 'multipart/form-data; boundary=x'],
  [401, 'POST', '/api/unauthorized', 'application/octet-stream'],
  [403, 'POST', '/api/forbidden', 'application/octet-stream'],
  [404, 'POST', '/api/nowhere', 'application/octet-stream'],
  [405, 'PUT', '/api/notes', 'application/json'],
  [413, 'POST', '/api/notes', 'application/json'],
  [413, 'POST', '/api/uploads', 'application/octet-stream'],
  [415, 'POST', '/api/notes', 'text/plain'],
  [429, 'POST', '/api/too-many', 'application/octet-stream'],
  [503, 'POST', '/api/overloaded', 'application/octet-stream'],
]

describe.each(Object.keys(clients))('%s', name => {
  test.each(cases)('reads the %i of %s %s (%s) while it sends', async (status, method, path, type) => {
    for (const sizeBytes of [2 * mebibyte, 24 * mebibyte]) {
      expect(await clients[name]!({ url: `${edge.url}${path}`, method, type, sizeBytes })).toBe(status)
    }
  })
})

test.each(cases)('%i of %s %s (%s) can be read after 8 MiB were sent', async (status, method, path, type) => {
  const sending = { url: `${edge.url}${path}`, method, type, sizeBytes: 8 * mebibyte }

  expect(await sendThenRead(sending)).toBe(status)
})

test.each([
  ['/api/uploads', 413],
  ['/api/nowhere', 404],
])(
  'a client that never ends its body to %s is answered, read on for a while, and then disconnected',
  async (path, status) => {
    const wire = await Wire.open(edge.port)
    const chunk = Buffer.from(`100000\r\n${'x'.repeat(mebibyte)}\r\n`)

    await wire.send(requestText('POST', path, { 'Transfer-Encoding': 'chunked' }))
    for (let i = 0; i < 3; i++) await wire.send(chunk)
    const answer = await wire.answer()
    let sentMib = 0
    const endless = (async () => {
      for (; sentMib < 200; sentMib++) await Promise.race([wire.send(chunk), wire.closed()])
    })()

    expect(answer).toMatchObject({ status, headers: { connection: 'close' } })
    expect(await wire.closed()).toBe('closed')
    await endless
  },
)

test('a connection whose body had come whole is kept, whatever the answer was', async () => {
  const wire = await Wire.open(edge.port)

  for (const path of ['/api/forbidden', '/api/nowhere', '/api/own']) {
    await wire.send(requestText('POST', path, {}, 'x'.repeat(1_000)))
    expect((await wire.answer()).status).toBeGreaterThan(400)
  }
})
