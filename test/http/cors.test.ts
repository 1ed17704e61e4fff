import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { answerHeaders } from '../../src/http/about/answer-headers.ts'
import { reply, route } from '../../src/http/route.ts'
import { startEdge } from '../support/edge.ts'
import { requestText, Wire } from '../support/wire.ts'

const create = route('POST /api/apps', {
  summary: 'Create',
  auth: 'token or key',
  replies: { 201: z.object({}) },
  handle: () => reply(201, {}),
})

const list = route('GET /api/apps', {
  summary: 'List',
  auth: 'none',
  replies: { 200: z.object({}) },
  handle: () => reply(200, {}),
})

const routes = [create, list]
const origin = 'https://app.example'

test.each(['/api/apps', '/version', '/nowhere', '/hubs/rtm/negotiate?x=1'])(
  'a preflight of %s is answered without a credential',
  async path => {
    await using edge = await startEdge(routes)

    const { status, headers } = await edge.request('OPTIONS', path, {
      headers: {
        origin,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'authorization,content-type,x-requested-with,x-weavy-source',
      },
    })

    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe(origin)
    expect(headers.get('access-control-allow-credentials')).toBe('true')
    expect(headers.get('access-control-allow-methods')).toBe('GET, POST, PUT, PATCH, DELETE')
    expect(headers.get('access-control-allow-headers')?.split(', ')).toEqual(
      expect.arrayContaining(
        'authorization content-type idempotency-key prefer range x-requested-with x-service-source'.split(' '),
      ),
    )
    expect(headers.get('access-control-allow-headers')).toContain('x-signalr-user-agent, x-weavy-source')
    expect(headers.get('vary')).toBe('Origin')
  },
)

test.each([
  ['an answer', 'GET', '/api/apps', 200],
  ['a refusal', 'POST', '/api/apps', 401],
  ['a path that is not there', 'GET', '/nowhere', 404],
  ['a method that is not there', 'DELETE', '/api/apps', 405],
])('%s can be read by the page that asked', async (_, method, path, expected) => {
  await using edge = await startEdge(routes)

  const { status, headers } = await edge.request(method, path, { headers: { origin } })

  expect(status).toBe(expected)
  expect(headers.get('access-control-allow-origin')).toBe(origin)
  expect(headers.get('access-control-expose-headers')).toContain('Content-Disposition')
  expect(headers.get('access-control-expose-headers')).toContain('Preference-Applied')
  expect(headers.get('access-control-expose-headers')).toContain('Retry-After')
})

test.each([
  ['every header that this server reads', () => readHeaders()],
  ['what a tracing client adds', () => ['traceparent', 'tracestate', 'baggage']],
  ['what an HTTP cache adds', () => ['if-none-match', 'if-match', 'if-modified-since', 'if-range', 'cache-control']],
  ['what the client of SignalR adds', () => ['x-requested-with', 'x-signalr-user-agent']],
  ['what an event source adds', () => ['last-event-id', 'cache-control']],
  ['what the description names', () => ['idempotency-key', 'prefer', 'range']],
])('a page may send %s', async (_, names) => {
  await using edge = await startEdge(routes)

  const { headers } = await edge.request('OPTIONS', '/api/apps', { headers: { origin } })

  expect(headers.get('access-control-allow-headers')!.split(', ')).toEqual(expect.arrayContaining(names()))
})

test('a page may read every header that answers of the API are described with', async () => {
  await using edge = await startEdge(routes)

  const { headers } = await edge.get('/api/apps', { origin })

  const exposed = headers.get('access-control-expose-headers')!.split(', ')
  expect(exposed).toEqual(expect.arrayContaining([...Object.keys(answerHeaders), 'Allow', 'Location', 'X-Request-Id']))
})

/** The names of request headers in the source, without those that pages cannot set, or that proxies set. */
function readHeaders(): string[] {
  const files = globSync('src/{http,auth,resources,realtime}/**/*.ts').filter(path => !path.includes('/admin/'))
  const names = files.flatMap(path => [
    ...readFileSync(path, 'utf8').matchAll(/\b(?:header|getHeader)\('([a-z-]+)'\)/g),
  ])
  const notSet = /^(?:accept|host|origin|content-length|transfer-encoding|sec-.*|x-forwarded-.*|content-encoding)$/
  return [...new Set(names.map(([, name]) => name!))].filter(name => !notSet.test(name))
}

test('where origins are listed, only those are allowed', async () => {
  await using edge = await startEdge(routes, { settings: { corsOrigins: [origin] } })

  const [listed, other] = [
    await edge.get('/api/apps', { origin }),
    await edge.get('/api/apps', { origin: `${origin}.evil.example` }),
  ]

  expect(listed.headers.get('access-control-allow-origin')).toBe(origin)
  expect(other.headers.has('access-control-allow-origin')).toBe(false)
  expect(other.headers.get('vary')).toBe('Origin')
})

test('one page after the other gets its own origin back', async () => {
  await using edge = await startEdge(routes)

  for (const asked of ['https://a.example', 'https://b.example', 'null', 'https://a.example']) {
    const { headers } = await edge.get('/api/apps', { origin: asked })
    expect(headers.get('access-control-allow-origin')).toBe(asked)
  }
  expect((await edge.get('/api/apps')).headers.has('access-control-allow-origin')).toBe(false)
})

test('a request from no page gets no origin, but caches are told that it matters', async () => {
  await using edge = await startEdge(routes)

  const { headers } = await edge.get('/api/apps')

  expect(headers.has('access-control-allow-origin')).toBe(false)
  expect(headers.get('vary')).toBe('Origin')
})

test('an origin that is no URL is not given back', async () => {
  await using edge = await startEdge(routes)
  const wire = await Wire.open(edge.port)

  await wire.send(requestText('GET', '/api/apps', { Origin: 'https://a b\tc' }))

  expect((await wire.answer()).headers).not.toHaveProperty('access-control-allow-origin')
})
