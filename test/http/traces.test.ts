import { expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { answersIn, chatWithAgent, makeAgent } from '../support/agents.ts'
import { create } from '../support/content.ts'
import { answer, startReceiver, type Receiver } from '../support/receiver.ts'
import { startServer } from '../support/server.ts'
import { register } from '../support/webhooks.ts'

interface Value {
  stringValue?: string
  intValue?: number
  doubleValue?: number
}

interface Span {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  facts: Record<string, string | number | undefined>
  links: { traceId: string; spanId: string }[]
  isFailed: boolean
}

const [server_, client_] = [2, 3]

/** The spans that the collector was sent. */
function spansOf(collector: Receiver): Span[] {
  const toFacts = (attributes: { key: string; value: Value }[] = []) =>
    Object.fromEntries(
      attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue]),
    )
  return collector.requests
    .filter(({ path }) => path === '/hook/v1/traces')
    .flatMap(({ body }) => JSON.parse(body).resourceSpans)
    .flatMap(resource => resource.scopeSpans)
    .flatMap(scope => scope.spans)
    .map(({ attributes, links = [], status, ...span }) => {
      return { ...span, facts: toFacts(attributes), links, isFailed: status?.code === 2 }
    })
}

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentId = '00f067aa0ba902b7'

test('a request has a span beneath its caller’s, named by its route, and its commit one beneath that', async () => {
  await using collector = await startReceiver()
  const server = await startServer({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector',
    OTEL_SERVICE_NAME: 'garden',
  })
  const { app, people } = await server.chatWith(1)
  const path = `/api/apps/${app}/messages`

  const { headers } = await server.request('POST', path, {
    token: people[0].token,
    body: { text: 'hello' },
    headers: { traceparent: `00-${traceId}-${parentId}-01` },
  })
  await server.request('GET', path, { token: people[0].token, headers: { traceparent: '00-nonsense' } })
  await server[Symbol.asyncDispose]()

  const spans = spansOf(collector)
  const [request, ...others] = spans.filter(span => span.traceId === traceId && span.kind === server_)
  expect(others).toEqual([])
  expect(request).toMatchObject({
    parentSpanId: parentId,
    name: 'POST /api/apps/{app}/messages',
    facts: {
      'http.request.method': 'POST',
      'http.route': '/api/apps/{app}/messages',
      'url.path': path,
      'http.response.status_code': 201,
      'parley.request.id': headers.get('x-request-id'),
    },
    isFailed: false,
  })
  expect(spans.find(span => span.name === 'commit' && span.traceId === traceId)).toMatchObject({
    parentSpanId: request!.spanId,
    facts: { 'parley.commit.commands': 1, 'parley.commit.apps': 1 },
  })
  expect(spans.find(({ name }) => name === 'GET /api/apps/{app}/messages')!.parentSpanId).toBeUndefined()
  expect(collector.requests[0]!.headers.authorization).toBe('Bearer collector')
  expect(collector.requests[0]!.body).toContain('garden')
})

test('a commit that several requests share is linked to all of them', async () => {
  await using collector = await startReceiver()
  const server = await startServer({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const { app, people } = await server.chatWith(1)

  const texts = Array.from({ length: 50 }, (_, at) => `message ${at}`)
  await Promise.all(texts.map(text => create(people[0], `/api/apps/${app}/messages`, { text })))
  await server[Symbol.asyncDispose]()

  const spans = spansOf(collector)
  const sends = spans.filter(({ name }) => name === 'POST /api/apps/{app}/messages')
  const commits = spans.filter(({ name }) => name === 'commit')
  const named = commits.flatMap(({ parentSpanId, links }) => [parentSpanId, ...links.map(({ spanId }) => spanId)])
  expect(sends).toHaveLength(50)
  expect(sends.filter(({ spanId }) => !named.includes(spanId))).toEqual([])
})

test('a delivery has a span, which the receiver is told of, and that failed where the delivery did', async () => {
  await using collector = await startReceiver()
  await using receiver = await startReceiver(answer(500))
  const server = await startServer({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  await register(server, `${receiver.url}/secret-path`, { triggers: ['messages'] })
  const { app, people } = await server.chatWith(1)

  await create(people[0], `/api/apps/${app}/messages`, { text: 'hello' })
  const [received] = await receiver.take(1)
  await server[Symbol.asyncDispose]()

  const span = spansOf(collector).find(({ name }) => name === 'POST webhook')!
  expect(span).toMatchObject({
    kind: client_,
    facts: { 'server.address': '127.0.0.1', 'http.response.status_code': 500, 'error.type': '500' },
    isFailed: true,
  })
  expect(received.headers.traceparent).toBe(`00-${span.traceId}-${span.spanId}-01`)
  expect(collector.requests.map(({ body }) => body).join()).not.toMatch(/secret-path|hello/)
})

test('a run of an agent has a span, and each request to its provider one beneath it', async () => {
  await using collector = await startReceiver()
  const server = await startServer({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  await makeAgent(server, { model: 'script' })
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)

  await ann.post(`/api/apps/${app}/messages`, { text: 'tokens 7 5\nsay Hello' })
  await answersIn(ann, app, { count: 1 })
  await server[Symbol.asyncDispose]()

  const spans = spansOf(collector)
  const run = spans.find(({ name }) => name === 'invoke_agent')!
  expect(run.isFailed).toBe(false)
  expect(spans.find(({ name }) => name === 'chat script')).toMatchObject({
    traceId: run.traceId,
    parentSpanId: run.spanId,
    facts: {
      'gen_ai.provider.name': 'builtin',
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 5,
    },
  })
})

test('of traces that begin here a share is kept, and those that callers want kept all the same', async () => {
  await using collector = await startReceiver()
  const server = await startServer({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '0' })

  await server.admin.get('/api/users')
  await server.admin.get('/api/users', { traceparent: `00-${traceId}-${parentId}-00` })
  await server.admin.get('/api/apps', { traceparent: `00-${traceId}-${parentId}-01` })
  await server[Symbol.asyncDispose]()

  expect(spansOf(collector).map(({ name }) => name)).toEqual(['GET /api/apps'])
})

test('a collector that is away costs no request anything', async () => {
  await using collector = await startReceiver()
  const away = collector.url
  await collector[Symbol.asyncDispose]()
  await using server = await startServer({ OTEL_EXPORTER_OTLP_ENDPOINT: away, DRAIN_SECONDS: '2' })

  const { status } = await server.admin.get('/api/users')

  expect(status).toBe(200)
})

test('headers for the collector that cannot be read are refused at the start', () => {
  const read = (headers: string) => () => readConfig({ OTEL_EXPORTER_OTLP_HEADERS: headers })

  expect(read('authorization')).toThrow('OTEL_EXPORTER_OTLP_HEADERS')
  expect(read('a=%zz')).toThrow('OTEL_EXPORTER_OTLP_HEADERS')
  expect(read('a=b,c=d%20e')).not.toThrow()
})
