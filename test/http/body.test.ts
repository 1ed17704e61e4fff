import { expect, test } from 'vitest'
import { z } from 'zod'
import { reply, route, type Method } from '../../src/http/route.ts'
import { startEdge } from '../support/edge.ts'
import { eventually } from '../support/eventually.ts'
import { collectGarbage } from '../support/garbage.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { requestText, Wire } from '../support/wire.ts'

const Note = z.object({
  text: z.string().max(100_000).nullish(),
  tags: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  size: z.int().min(1).optional(),
  member: z.object({ user: z.string(), access: z.enum(['read', 'write']) }).optional(),
  id: z.union([z.int(), z.string().regex(/^\d+$/, 'must be an id')]).optional(),
  email: z.email().optional(),
})

/** Answers with what the handler was given, written as JSON without any of the writer's rules. */
const echo = (method: Method, bodyLimitBytes = 4 * 1024 * 1024) =>
  route(`${method} /api/notes`, {
    summary: 'Show what was understood',
    auth: 'none',
    body: Note,
    bodyLimitBytes,
    replies: { 200: z.string() },
    handle: ({ body }) => reply(200, JSON.stringify(body), { 'Content-Type': 'application/json' }),
  })

const methods = (['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const).map(method => echo(method))
/** A body of exactly this size. */
const fill = (sizeBytes: number) => `{"text":"${'x'.repeat(sizeBytes - 11)}"}`
const json = { 'Content-Type': 'application/json' }

/** Memory outside the heap that is still in use. */
async function heldBytes(): Promise<number> {
  let held = Number.POSITIVE_INFINITY
  // What tests before this one have used may take more than one collection to go.
  for (let left = process.memoryUsage().arrayBuffers; left < held; left = process.memoryUsage().arrayBuffers) {
    held = left
    await collectGarbage()
  }
  return held
}

test.each([
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'Application/JSON',
  'text/json',
  'application/json-patch+json',
  'application/vnd.api+json; charset="utf-8"',
])('%s is accepted', async type => {
  await using edge = await startEdge(methods)

  const { body } = await edge.post('/api/notes', { text: 'hello' }, { 'content-type': type })

  expect(body).toEqual({ text: 'hello' })
})

test.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  'application/json; charset=utf-16',
  '',
])('a body of type "%s" is 415', async type => {
  await using edge = await startEdge(methods)
  const wire = await Wire.open(edge.port)

  await wire.send(requestText('POST', '/api/notes', { 'Content-Type': type }, '{"text":"hello"}'))

  expect((await wire.answer()).status).toBe(415)
})

test('a compressed body is 415', async () => {
  await using edge = await startEdge(methods)

  const { status } = await edge.post('/api/notes', { text: 'hello' }, { 'content-encoding': 'gzip' })

  expect(status).toBe(415)
})

test.each(['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const)(
  '%s without a body is taken as an empty object, whatever its type',
  async method => {
    await using edge = await startEdge(methods)

    for (const type of ['application/json;charset=utf-8', 'text/plain', '']) {
      const { status, body } = await edge.request(method, '/api/notes', { headers: { 'content-type': type } })
      expect({ status, body }).toEqual({ status: 200, body: {} })
    }
  },
)

test('DELETE may carry a body, and so may GET', async () => {
  await using edge = await startEdge(methods)
  const wire = await Wire.open(edge.port)

  for (const method of ['DELETE', 'GET']) {
    await wire.send(requestText(method, '/api/notes', json, '{"text":"hello"}'))
    expect((await wire.answer()).body).toBe('{"text":"hello"}')
  }
})

test('nulls reach the handler, and members that nobody declared do not', async () => {
  await using edge = await startEdge(methods)

  const { body } = await edge.patch('/api/notes', { text: null, colour: 'red' })

  expect(body).toEqual({ text: null })
})

test.each(['{', 'hello', "{'a':1}", '{"text":"a"}}', '{"text":"a",}', 'NaN', '\u0000', '{"a":\n'])(
  'what is not JSON is 400: %j',
  async text => {
    await using edge = await startEdge(methods)

    const { status, body } = await edge.post('/api/notes', text)

    expect({ status, code: body.code }).toEqual({ status: 400, code: 'malformed-json' })
  },
)

test('what is not UTF-8 is 400', async () => {
  await using edge = await startEdge(methods)
  const wire = await Wire.open(edge.port)
  const text = Buffer.from('{"text":"caf\xe9"}', 'latin1')

  await wire.send(requestText('POST', '/api/notes', { ...json, 'Content-Length': String(text.length) }))
  await wire.send(text)

  expect(await wire.answer()).toMatchObject({ status: 400, body: expect.stringContaining('not-utf-8') })
})

test('a byte order mark does no harm', async () => {
  await using edge = await startEdge(methods)

  expect((await edge.post('/api/notes', '\ufeff{"text":"hello"}')).body).toEqual({ text: 'hello' })
})

test('values that are refused are named by their path, in words for people', async () => {
  await using edge = await startEdge(methods)

  const { status, body } = await edge.post('/api/notes', {
    text: 5,
    tags: ['a', 7],
    metadata: [],
    size: 0,
    member: { access: 'all' },
    id: 'x',
    email: 'ann',
  })

  expect({ status, title: body.title }).toEqual({ status: 422, title: 'Validation Failed' })
  expect(body.errors).toEqual({
    text: ['must be text'],
    'tags.1': ['must be text'],
    metadata: ['must be an object'],
    size: ['must be at least 1'],
    'member.user': ['is required'],
    'member.access': ['must be read or write'],
    id: ['must be an id'],
    email: ['is not an e-mail address'],
  })
})

test.each([['[]'], ['null'], ['5'], ['"text"'], ['true']])('a body of %s is no object, and 422', async text => {
  await using edge = await startEdge(methods)

  const { status, body } = await edge.post('/api/notes', text)

  expect({ status, errors: body.errors }).toEqual({ status: 422, errors: { body: ['must be an object'] } })
})

test('__proto__ in a body reaches nobody: within a value it is 422, beside the members it is ignored', async () => {
  await using edge = await startEdge(methods)

  const plain = await edge.post('/api/notes', '{"metadata":{"a":{"__proto__":{"admin":true},"b":1}}}')
  const escaped = await edge.post('/api/notes', '{"metadata":{"\\u005f_proto__":null}}')
  const beside = await edge.post('/api/notes', '{"__proto__":{"text":"a"},"metadata":{"b":1}}')

  expect(plain.body.errors).toEqual({ 'metadata.a': ['must not have a member __proto__'] })
  expect(escaped.body.errors).toEqual({ metadata: ['must not have a member __proto__'] })
  expect(JSON.stringify(beside.body)).toBe('{"metadata":{"b":1}}')
  expect(({} as { admin?: boolean }).admin).toBeUndefined()
})

const notKept = 'must be a number that a double keeps exactly: send others as text'

test.each([
  ['12345678901234567890', 'metadata.a', notKept, 18],
  ['-9007199254740993', 'metadata.a', notKept, 18],
  ['1e400', 'metadata.a', notKept, 18],
  ['0.1e-400', 'metadata.a', notKept, 18],
  ['0.1000000000000000055', 'metadata.a', notKept, 18],
  ['[1, {"b" : [-1.00000000000000001]}]', 'metadata.a.1.b.0', notKept, 30],
  ['-0', 'metadata.a', 'must not be -0, which is kept as 0', 18],
  ['-0.0e5', 'metadata.a', 'must not be -0, which is kept as 0', 18],
  ['{"b\\"":1,"c":{},"b\\u0022":2}', 'metadata.a.b"', 'is there twice', 34],
])('what parsing %s would change is 422 with its place', async (value, field, reason, at) => {
  await using edge = await startEdge(methods)

  const { status, body } = await edge.post('/api/notes', `{"metadata":{"a":${value}}}`)

  expect({ status, errors: body.errors }).toEqual({
    status: 422,
    errors: { [field]: [`${reason} (at character ${at} of the body)`] },
  })
})

test.each([
  ...[
    '0',
    '1.0',
    '1e2',
    '10E-1',
    '1E+21',
    '1e308',
    '5e-324',
    '123456789012345',
    '9007199254740992',
    '0.30000000000000004',
  ],
  ...['1234567890123456800', '0.000000000000000000001', '-0.5', '"-0 12345678901234567890 1e400 \\"a\\": \\"a\\":"'],
  ...['{"constructor":1,"toString":2,"":3," ":4,"a":{"a":5}}', '[[],{},null,true]', '"\\ud83d\\ude00\\/"'],
])('%s is understood as it was sent', async value => {
  await using edge = await startEdge(methods)

  const { status, body } = await edge.post('/api/notes', `{"metadata":{"a":${value}}}`)

  expect({ status, a: body.metadata.a }).toEqual({ status: 200, a: JSON.parse(value) })
})

test('a member that a body has twice is 422', async () => {
  await using edge = await startEdge(methods)

  const { body } = await edge.post('/api/notes', '{"text":"a", "text":"b"}')

  expect(body.errors).toEqual({ text: ['is there twice (at character 14 of the body)'] })
})

test.each([100, 10_000, 1_000_000])('a value nested %i levels deep is 422 and not a crash', async levels => {
  await using edge = await startEdge(methods)

  const { status, body } = await edge.post('/api/notes', `{"metadata":${'['.repeat(levels)}${']'.repeat(levels)}}`)

  expect({ status, errors: body.errors }).toEqual({
    status: 422,
    errors: { metadata: ['must not be nested deeper than 64 levels'] },
  })
})

test('a list of a million wrong values is 422 with a short answer', async () => {
  await using edge = await startEdge(methods)

  const { status, body } = await edge.post('/api/notes', `{"tags":[${'1,'.repeat(1_000_000)}1]}`)

  expect(status).toBe(422)
  expect(Object.keys(body.errors).length).toBeLessThanOrEqual(50)
})

test.each(['\\u0000', '\\ud800', 'x\\udc00'])('text with %s cannot be stored and is 422', async escape => {
  await using edge = await startEdge(methods)

  const { status, body } = await edge.post('/api/notes', `{"metadata":{"a":["${escape}"]}}`)

  expect({ status, errors: body.errors }).toEqual({
    status: 422,
    errors: { 'metadata.a.0': ['must not contain NUL or broken characters'] },
  })
})

test('a body as large as the limit is taken, one byte more is 413', async () => {
  await using edge = await startEdge([echo('POST', 1000)])

  const [fits, tooLarge] = [await edge.post('/api/notes', fill(1000)), await edge.post('/api/notes', fill(1001))]

  expect(fits.status).toBe(200)
  expect({ status: tooLarge.status, ...tooLarge.body }).toMatchObject({ status: 413, title: 'Payload Too Large' })
})

test('whoever has shown no credential may send 64 KiB, unless the route says otherwise', async () => {
  const { bodyLimitBytes: _, ...usual } = echo('POST')
  await using edge = await startEdge([usual])

  const [fits, tooLarge] = [await edge.post('/api/notes', fill(65_536)), await edge.post('/api/notes', fill(65_537))]

  expect([fits.status, tooLarge.status]).toEqual([200, 413])
})

test('a body that comes in pieces is put together', async () => {
  await using edge = await startEdge(methods)
  const wire = await Wire.open(edge.port)
  const text = JSON.stringify({ text: 'a€😀'.repeat(1000) })
  const bytes = Buffer.from(requestText('POST', '/api/notes', json, text))

  // 101 bytes: pieces end within characters.
  for (let at = 0; at < bytes.length; at += 101) await wire.send(bytes.subarray(at, at + 101))
  const { body } = await wire.answer()

  expect(Buffer.from(body, 'latin1').toString()).toBe(text)
})

test('a chunked body is put together, and an empty one is an empty object', async () => {
  await using edge = await startEdge(methods)
  const wire = await Wire.open(edge.port)
  const head = requestText('POST', '/api/notes', { ...json, 'Transfer-Encoding': 'chunked' })

  await wire.send(`${head}8\r\n{"text":\r\n`)
  await wire.send(`8\r\n"hello"}\r\n0\r\n\r\n`)
  expect((await wire.answer()).body).toBe('{"text":"hello"}')
  await wire.send(`${head}0\r\n\r\n`)
  expect((await wire.answer()).body).toBe('{}')
})

test('a chunked body over the limit is 413 without being kept', async () => {
  await using edge = await startEdge(methods)
  const wire = await Wire.open(edge.port)
  const chunk = Buffer.from(`100000\r\n${'x'.repeat(1024 * 1024)}\r\n`)
  const before = process.memoryUsage().arrayBuffers

  await wire.send(requestText('POST', '/api/notes', { ...json, 'Transfer-Encoding': 'chunked' }))
  for (let i = 0; i < 15; i++) await wire.send(chunk)
  const kept = process.memoryUsage().arrayBuffers - before
  await wire.send('0\r\n\r\n')

  expect((await wire.answer()).status).toBe(413)
  expect(kept).toBeLessThan(10 * 1024 * 1024)
})

test('a chunked body one byte over the limit is 413', async () => {
  await using edge = await startEdge([echo('POST', 1000)])
  const wire = await Wire.open(edge.port)
  const head = requestText('POST', '/api/notes', { ...json, 'Transfer-Encoding': 'chunked' })

  await wire.send(`${head}3e8\r\n${fill(1000)}\r\n0\r\n\r\n${head}3e8\r\n${fill(1000)}\r\n1\r\n \r\n0\r\n\r\n`)

  expect([(await wire.answer()).status, (await wire.answer()).status]).toEqual([200, 413])
})

test('a chunked body without an end is 413 too, and the connection is ended', async () => {
  await using edge = await startEdge([echo('POST', 1000)])
  const wire = await Wire.open(edge.port)
  const chunk = Buffer.from(`100000\r\n${'x'.repeat(1024 * 1024)}\r\n`)

  await wire.send(requestText('POST', '/api/notes', { ...json, 'Transfer-Encoding': 'chunked' }))
  for (let i = 0; i < 17; i++) await wire.send(chunk)

  expect(await wire.closed()).toBe('closed')
})

test('a body that is broken off is forgotten at once', async () => {
  await using edge = await startEdge(methods)
  const wires = await Promise.all(Array.from({ length: 10 }, () => Wire.open(edge.port)))
  for (const wire of wires) {
    await wire.send(requestText('POST', '/api/notes', { ...json, 'Content-Length': '4000000' }))
    await wire.send(Buffer.alloc(3_000_000, 'x'))
  }
  const full = await eventually(async () => {
    const held = await heldBytes()
    expect(held).toBeGreaterThan(28_000_000)
    return held
  })

  for (const wire of wires) wire.destroy()

  await eventually(async () => expect(await heldBytes()).toBeLessThan(full - 25_000_000))
})

test('a body that announces too much is refused before it comes', async () => {
  await using edge = await startEdge(methods)
  const wire = await Wire.open(edge.port)

  await wire.send(requestText('POST', '/api/notes', { ...json, 'Content-Length': '99999999999' }))

  expect((await wire.answer()).status).toBe(413)
})

test('a body that does not come in time is 408, and the connection is ended', async () => {
  await using edge = await startEdge(methods, { settings: { bodyDeadlineMs: 100 } })
  const wire = await Wire.open(edge.port)

  await wire.send(requestText('POST', '/api/notes', { ...json, 'Content-Length': '100' }))
  await wire.send('{"text":')

  expect(await wire.answer()).toMatchObject({ status: 408, headers: { connection: 'close' } })
  expect(await wire.closed()).toBe('closed')
})

test('a body that trickles in is 408, and one that comes steadily may take its time', async () => {
  const clock = new ManualClock()
  await using edge = await startEdge(methods, { clock })
  const [trickling, steady] = [await Wire.open(edge.port), await Wire.open(edge.port)]
  const head = requestText('POST', '/api/notes', { ...json, 'Content-Length': '400000' })
  await trickling.send(`${head}{"text":`)
  await steady.send(`${head}{"xyz":"`)
  await eventually(() => expect(edge.edge.open).toBe(2))

  clock.advance(5000)
  await trickling.send('x'.repeat(100_000))
  await steady.send('x'.repeat(200_000))
  // An answer shows that what was sent before has been read.
  await edge.get('/version')
  clock.advance(4000)

  expect((await trickling.answer()).status).toBe(408)
  await steady.send(`${'x'.repeat(199_990)}"}`)
  expect((await steady.answer()).status).toBe(200)
})

test('a route without a body does not look at the one that comes', async () => {
  const leave = route('POST /api/leave', {
    summary: 'Leave',
    auth: 'none',
    replies: { 204: null },
    handle: () => reply(204),
  })
  await using edge = await startEdge([leave])
  const wire = await Wire.open(edge.port)

  await wire.send(requestText('POST', '/api/leave', {}, 'not JSON'))
  expect((await wire.answer()).status).toBe(204)
  await wire.send(requestText('POST', '/api/leave', json, '{}'))
  expect((await wire.answer()).status).toBe(204)
})
