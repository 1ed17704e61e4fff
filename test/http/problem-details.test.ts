import { expect, test } from 'vitest'
import { z } from 'zod'
import { NotFound, overloaded, problem, type ProblemType } from '../../src/lib/errors.ts'
import { route } from '../../src/http/route.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { startEdge } from '../support/edge.ts'

/** A route that always fails with this. */
const failing = (path: string, make: () => unknown) =>
  route(`POST ${path}`, {
    summary: 'Fail',
    auth: 'none',
    body: z.object({}),
    replies: { 204: null },
    handle() {
      throw make()
    },
  })

/** The same, after a while. */
const failingLater = (path: string, make: () => unknown) =>
  route(`POST ${path}`, {
    summary: 'Fail later',
    auth: 'none',
    replies: { 204: null },
    async handle() {
      await Promise.resolve()
      throw make()
    },
  })

const NameTaken = problem(409, 'name-taken', 'A file of this name already exists.')

test('a problem says everything that a client can act on', async () => {
  await using edge = await startEdge([failing('/api/files', () => NameTaken({ file: 12 }))])

  const { status, headers, body } = await edge.post('/api/files?_=1', {})

  expect(status).toBe(409)
  expect(headers.get('content-type')).toBe('application/problem+json')
  expect(body).toEqual({
    type: 'https://tools.ietf.org/html/rfc7231#section-6.5.8',
    title: 'Conflict',
    status: 409,
    detail: 'A file of this name already exists.',
    instance: '/api/files',
    code: 'name-taken',
    help: '/docs/errors#name-taken',
    request_id: headers.get('x-request-id'),
    file: 12,
  })
})

test('facts cannot take the place of what a problem is', async () => {
  await using edge = await startEdge([failing('/api/files', () => NameTaken({ status: 200, code: 'x', type: 'y' }))])

  const { body } = await edge.post('/api/files', {})

  expect(body).toMatchObject({ status: 409, code: 'name-taken', type: expect.stringContaining('rfc7231') })
})

const table: [number, string, string][] = [
  [400, 'Bad Request', 'rfc7231#section-6.5.1'],
  [401, 'Unauthorized', 'rfc7235#section-3.1'],
  [403, 'Forbidden', 'rfc7231#section-6.5.3'],
  [404, 'Not Found', 'rfc7231#section-6.5.4'],
  [405, 'Method Not Allowed', 'rfc7231#section-6.5.5'],
  [408, 'Request Timeout', 'rfc7231#section-6.5.7'],
  [409, 'Conflict', 'rfc7231#section-6.5.8'],
  [413, 'Payload Too Large', 'rfc7231#section-6.5.11'],
  [414, 'URI Too Long', 'rfc7231#section-6.5.12'],
  [415, 'Unsupported Media Type', 'rfc7231#section-6.5.13'],
  [422, 'Validation Failed', 'rfc4918#section-11.2'],
  [429, 'Too Many Requests', 'rfc6585#section-4'],
  [431, 'Request Header Fields Too Large', 'rfc6585#section-5'],
  [503, 'Service Unavailable', 'rfc7231#section-6.6.4'],
]

test.each(table)('%i is called %s', async (status, title, type) => {
  const Refused: ProblemType = problem(status, 'refused', 'No.')
  await using edge = await startEdge([failing('/api/x', () => Refused())])

  const answer = await edge.post('/api/x', {})

  expect(answer.status).toBe(status)
  expect(answer.body).toMatchObject({ status, title, type: `https://tools.ietf.org/html/${type}` })
})

test('401 says how to authenticate', async () => {
  const Unknown = problem(401, 'unauthorized', 'Who are you?')
  await using edge = await startEdge([failing('/api/x', () => Unknown())])

  expect((await edge.post('/api/x', {})).headers.get('www-authenticate')).toBe('Bearer realm="api"')
})

test('a problem that passes says when to try again', async () => {
  await using edge = await startEdge([failing('/api/x', () => overloaded(7))])

  const { status, headers, body } = await edge.post('/api/x', {})

  expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 503, retryAfter: '7' })
  expect(body).not.toHaveProperty('retry_after')
})

test.each([
  ['at once', failing],
  ['later', failingLater],
])('a bug that shows %s is 500 with nothing but an id, under which it is logged once', async (_, declare) => {
  const bug = () => new Error('secret words', { cause: new Error('the reason') })
  await using edge = await startEdge([declare('/api/x', bug)])

  const { status, body } = await edge.post('/api/x', {}, { 'x-weavy-source': 'kit@1' })

  expect(status).toBe(500)
  expect(Object.keys(body).toSorted()).toEqual([
    'code',
    'detail',
    'help',
    'instance',
    'request_id',
    'status',
    'title',
    'trace_id',
    'type',
  ])
  expect(JSON.stringify(body)).not.toContain('secret')
  expect(edge.logged).toEqual([
    expect.objectContaining({
      level: 'error',
      trace_id: body.trace_id,
      method: 'POST',
      path: '/api/x',
      source: 'kit@1',
      error: expect.objectContaining({
        message: 'secret words',
        cause: expect.objectContaining({ message: 'the reason' }),
      }),
    }),
  ])
})

const circle: Record<string, unknown> = {}
circle.circle = circle

test.each([undefined, null, 'text', 5, {}, 5n, circle, NameTaken({ circle })])(
  'even %s can be thrown',
  async thrown => {
    await using edge = await startEdge([failing('/api/x', () => thrown)])

    expect((await edge.post('/api/x', {})).status).toBe(500)
  },
)

test('a reply that cannot be written is a bug of its route, not the end of the server', async () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const broken = { ...failing('/api/x', () => null), handle: () => ({ status: 200, body: circular }) }
  const brokenLater = { ...broken, path: '/api/y', handle: async () => ({ status: 200, body: circular }) }
  await using edge = await startEdge([broken, brokenLater])

  expect((await edge.post('/api/x', {})).status).toBe(500)
  expect((await edge.post('/api/y', {})).status).toBe(500)
})

test('a database that is away is 503, and not the fault of the request', async () => {
  const sql = openSql({ url: 'postgres://nobody@127.0.0.1:1/nothing', connections: 1, statementTimeoutMs: 1000 })
  const ask = route('GET /api/x', {
    summary: 'Ask',
    auth: 'none',
    replies: { 204: null },
    async handle() {
      await sql`select 1`
      throw NotFound()
    },
  })
  await using edge = await startEdge([ask])

  const { status, headers, body } = await edge.get('/api/x')

  expect({ status, code: body.code }).toEqual({ status: 503, code: 'overloaded' })
  expect(headers.get('retry-after')).toBe('2')
  expect(edge.logged).toEqual([expect.objectContaining({ level: 'warn' })])
})

test('a store of uploads that is away is 503 as well, and is not taken for the database', async () => {
  const reason = 'connect ECONNREFUSED 127.0.0.1:9000'
  const refused = () => Object.assign(new Error(reason), { code: 'ECONNREFUSED', syscall: 'connect' })
  await using edge = await startEdge([failing('/api/x', refused)])

  const { status } = await edge.post('/api/x', {})

  expect(status).toBe(503)
  expect(edge.logged).toMatchObject([
    {
      level: 'warn',
      message: 'A request failed because what it needs could not be reached',
      error: { message: reason },
    },
  ])
})
