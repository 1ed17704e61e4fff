import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { reply, route, type Method } from '../../src/http/route.ts'
import { startEdge } from '../support/edge.ts'
import { Wire } from '../support/wire.ts'

const Anything = z.object({
  text: z.string().min(1).max(100).optional(),
  count: z.int().optional(),
  list: z
    .array(z.object({ name: z.string().max(100) }))
    .max(100)
    .optional(),
  either: z.union([z.int(), z.string().regex(/^\d+$/), z.object({ id: z.int() })]).optional(),
  free: z.record(z.string(), z.unknown()).optional(),
})

const take = (method: Method) =>
  route(`${method} /api/things/{id}`, {
    summary: 'Take anything',
    auth: 'none',
    params: z.object({ id: z.string() }),
    query: z.object({
      q: z.string().optional(),
      tag: z.array(z.string()).optional(),
      take: z.enum(['1', '2']).optional(),
    }),
    body: Anything,
    creates: method === 'POST',
    replies: { 200: z.object({}) },
    handle: ({ params, query, body }) => reply(200, { params, query, text: JSON.stringify(body) }),
  })

const methods: Method[] = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']

// Characters that mean something to URLs, HTTP or JSON come up far more often than chance would have it.
const telling = fc.constantFrom(
  ...'%/?&=+#.\\"{}[]:,;<>\'\0\r\n\t \u007f\u00e9\u20ac\ud83d\udc00',
  '%00',
  '%2F',
  '%zz',
  '..',
)
const text = fc
  .array(fc.oneof(telling, fc.string({ maxLength: 8, unit: 'binary' })), { maxLength: 12 })
  .map(parts => parts.join(''))
/** What can stand in a request line at all. */
const target = text.map(value => value.replaceAll(/[\0-\x20\x7f]/g, ''))

/** Objects with members that JavaScript itself asks for. */
const pretender = fc.object({
  key: fc.constantFrom('length', 'size', 'toString', 'valueOf', 'toJSON', 'constructor', '__proto__', 'then', 'name'),
  maxDepth: 3,
})

const body = fc.oneof(
  fc.json(),
  text,
  fc
    .record({ text: pretender, list: fc.oneof(pretender, fc.array(pretender)), free: pretender })
    .map(value => JSON.stringify(value)),
  fc
    .record(
      { text: fc.anything(), count: fc.anything(), list: fc.anything(), either: fc.anything(), free: fc.anything() },
      { requiredKeys: [] },
    )
    .map(value =>
      JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : (member as unknown))),
    ),
)

test('no path, query, header or body brings about a 5xx', async () => {
  await using edge = await startEdge(methods.map(take))

  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...methods, 'HEAD', 'OPTIONS', 'TRACE'),
      fc.oneof(fc.constant('/api/things/'), fc.constant('/')),
      target,
      target,
      text.map(value => value.replaceAll(/\p{Cc}/gu, '')),
      fc.constantFrom('application/json', 'text/json; charset=utf-8', 'text/plain', 'application/x+json', ''),
      body,
      async (method, base, path, query, header, type, content) => {
        const bytes = Buffer.from(content)
        const wire = await Wire.open(edge.port)
        await wire.send(
          `${method} ${base}${path}?q=${query}&tag=${query}&${query} HTTP/1.1\r\nHost: a\r\nOrigin: ${header}\r\n` +
            `Prefer: ${header}\r\nIdempotency-Key: ${header}\r\nAuthorization: ${header}\r\nX-Weavy-Source: ${header}\r\n` +
            `Content-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`,
        )
        await wire.send(bytes)
        const answer = await wire.answer({ isHead: method === 'HEAD' })
        wire.destroy()

        expect(answer.status).toBeGreaterThanOrEqual(200)
        expect(answer.status).toBeLessThan(500)
      },
    ),
    { numRuns: 1500 },
  )

  expect(edge.logged).toEqual([])
}, 120_000)

test('no bytes at all stop the server', async () => {
  await using edge = await startEdge(methods.map(take))

  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom(
        '',
        'GET / HTTP/1.1\r\n',
        'POST /api/things/1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
      ),
      async (bytes, start) => {
        const wire = await Wire.open(edge.port)
        await wire.send(Buffer.concat([Buffer.from(start), bytes]))
        wire.destroy()
      },
    ),
    { numRuns: 500 },
  )

  expect((await edge.get('/version')).status).toBe(200)
  expect(edge.logged).toEqual([])
}, 60_000)

test('a body that is too much is refused by its beginning, before anything is made of it', async () => {
  await using edge = await startEdge([{ ...take('POST'), bodyLimitBytes: 1024 * 1024 }])
  const send = async (text: string) => {
    const { status, body } = await edge.post('/api/things/1', text)
    return [status, body.errors ?? body.code]
  }
  const tooDeep = ['must not be nested deeper than 64 levels']
  const tooMany = ['must not have more than 100000 values']

  // None of these has an end.
  expect(await send(`{"count":1,"free":${'['.repeat(200)}`)).toEqual([422, { free: tooDeep }])
  expect(await send(`{"text":"\\\\","free":{"\\"[":${'{"a":'.repeat(64)}`)).toEqual([422, { free: tooDeep }])
  expect(await send('['.repeat(200))).toEqual([422, { body: tooDeep }])
  expect(await send(`{"free":[${'0,'.repeat(100_000)}`)).toEqual([422, { body: tooMany }])
  expect(await send(`{"free":[${'[]'.repeat(100_000)}`)).toEqual([422, { body: tooMany }])
  expect(await send(`{"free":{${'"a":0,'.repeat(30_001)}`)).toEqual([
    422,
    { body: ['must not have more than 30000 members of objects'] },
  ])
  expect(await send(`{"free":"${'['.repeat(200)}`)).toEqual([400, 'malformed-json'])
})

test('a body that is as much as it may be is taken, and what its texts hold does not count', async () => {
  await using edge = await startEdge([{ ...take('POST'), bodyLimitBytes: 1024 * 1024 }])
  const values: unknown[] = [
    { deep: JSON.parse(`${'['.repeat(63)}${']'.repeat(63)}`) },
    { many: Array.from({ length: 99_000 }, () => 0) },
    { members: Object.fromEntries(Array.from({ length: 29_990 }, (_, i) => [`member ${i}`, i])) },
    { text: '[{,":'.repeat(80_000), 'a "[[" \\': ['\\'.repeat(201), '"'] },
  ]

  for (const free of values) {
    const { status, body } = await edge.post('/api/things/1', { free })
    expect([status, body.text === JSON.stringify({ free })]).toEqual([200, true])
  }
})

const chunkedBody = '2\r\n{}\r\n0\r\n\r\n'

test.each(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'])(
  'whatever the method, a %s that names no host is 400, one of HTTP/1.0 is 505, and both end their connection',
  async method => {
    await using edge = await startEdge([take('POST'), take('GET')])
    const body = ['POST', 'PUT', 'PATCH'].includes(method)
      ? 'Content-Type: application/json\r\nContent-Length: 2\r\n'
      : ''
    const cases: [version: string, headers: string, status: number][] = [
      ['1.1', '', 400],
      ['1.1', 'Host:\r\n', 400],
      ['1.1', 'Host: \r\n', 400],
      ['1.1', 'Hosts: a.example\r\n', 400],
      ['1.1', 'Host: a.example\r\nHost: a.example\r\n', 400],
      ...badHosts.map((host): [string, string, number] => ['1.1', `Host: ${host}\r\n`, 400]),
      ['1.0', '', 505],
      ['1.0', 'Host: a.example\r\n', 505],
    ]

    for (const [version, headers, status] of cases) {
      const wire = await Wire.open(edge.port)
      await wire.send(
        `${method} /api/things/1 HTTP/${version}\r\nAccept: */*\r\n${headers}${body}\r\n${body === '' ? '' : '{}'}`,
      )

      const answer = await wire.answer({ isHead: method === 'HEAD' })
      expect([version, headers, answer.status, answer.headers.connection]).toEqual([version, headers, status, 'close'])
      expect(await wire.closed()).toBe('closed')
    }
  },
)

const badHosts = [
  'evil.example/path',
  'a@b',
  'a b',
  'a?b',
  'a#b',
  'a\\b',
  '"><script>',
  'host:port',
  'a.ä.example',
  '[::1',
  '%4',
]
test.each([
  ['two lengths that differ', 'POST', 'Content-Length: 2\r\nContent-Length: 3\r\n', '{}'],
  ['one length twice', 'POST', 'Content-Length: 2\r\nContent-Length: 2\r\n', '{}'],
  ['an empty length', 'POST', 'Content-Length:\r\n', ''],
  ['an empty transfer coding', 'POST', 'Transfer-Encoding:\r\n', chunkedBody],
  ['a coding other than chunked', 'POST', 'Transfer-Encoding: gzip\r\n', chunkedBody],
  ['a coding before chunked', 'POST', 'Transfer-Encoding: gzip, chunked\r\n', chunkedBody],
  ['chunked twice', 'POST', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', chunkedBody],
  ['two hosts', 'GET', 'Host: b.example\r\n', ''],
  ['two hosts and no body in the answer', 'HEAD', 'Host: b.example\r\n', ''],
  ['two hosts of a preflight', 'OPTIONS', 'Host: b.example\r\n', ''],
])('a request with %s is 400, and ends its connection', async (_, method, headers, body) => {
  await using edge = await startEdge([take('POST'), take('GET')])
  const wire = await Wire.open(edge.port)

  await wire.send(
    `${method} /api/things/1 HTTP/1.1\r\nHost: a.example\r\nContent-Type: application/json\r\n${headers}\r\n${body}`,
  )

  const answer = await wire.answer({ isHead: method === 'HEAD' })
  expect([answer.status, answer.headers.connection]).toEqual([400, 'close'])
  expect(await wire.closed()).toBe('closed')
})

test('what follows a request without a clear end on its connection is not served', async () => {
  let served = 0
  const count = { ...take('GET'), handle: () => reply(200, { served: ++served }) }
  await using edge = await startEdge([take('POST'), count])
  const wire = await Wire.open(edge.port)

  await wire.send(
    'POST /api/things/1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n' +
      'Content-Length: 52\r\n\r\n{}GET /api/things/1 HTTP/1.1\r\nHost: a.example\r\n\r\n',
  )

  expect(await wire.closed()).toBe('closed')
  expect(served).toBe(0)
})

test('chunked is known in capitals, too', async () => {
  await using edge = await startEdge([take('POST')])
  const wire = await Wire.open(edge.port)

  await wire.send(
    `POST /api/things/1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: Chunked\r\n\r\n${chunkedBody}`,
  )

  expect((await wire.answer()).status).toBe(200)
})
