import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { problem } from '../../src/lib/errors.ts'
import { reply, route, serve } from '../../src/http/route.ts'
import { Secret } from '../../src/lib/secret.ts'
import { Int } from '../../src/api/shape.ts'
import { resources } from '../../src/resources/index.ts'
import { createDatabase } from '../support/database.ts'
import { startEdge } from '../support/edge.ts'

const Person = z.object({ id: Int, name: z.string().optional() }).meta({ id: 'Person', description: 'Somebody' })
const Note = z.object({ id: Int, text: z.string(), created_by: Person }).meta({ id: 'Note' })
const NoteIsFrozen = problem(409, 'note-is-frozen', 'This note cannot be changed any more.')

const show = route('GET /api/notes/{id}', {
  summary: 'Get a note',
  auth: 'token or key',
  params: z.object({ id: z.string() }),
  query: z.object({ tag: z.array(z.string()).optional(), at: z.string().describe('An instant') }),
  replies: { 200: Note },
  handle: () => reply(200, {}),
})

const create = route('POST /api/notes/{note}', {
  summary: 'Create a note',
  auth: 'key',
  params: z.object({ note: z.string() }),
  body: z.object({ text: z.string(), author: Person.optional() }),
  creates: true,
  replies: { 201: Note, 204: null },
  problems: [NoteIsFrozen],
  handle: () => reply(204),
})

test('the version is plain text', async () => {
  await using edge = await startEdge([], { settings: { version: '32.1.5' } })

  const { status, body, headers } = await edge.get('/version')

  expect({ status, body }).toEqual({ status: 200, body: '32.1.5' })
  expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
})

test('the status is Ok while PostgreSQL answers', async () => {
  await using database = await createDatabase()
  await using edge = await startEdge([], { sql: database.sql })

  expect((await edge.get('/status')).body).toBe('Ok')
})

test('the status is 503 when PostgreSQL is away', async () => {
  await using edge = await startEdge([])

  const { status, headers } = await edge.get('/status')

  expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 503, retryAfter: '2' })
})

test('the metrics count requests by route, method and status', async () => {
  await using edge = await startEdge([show])
  for (const id of [1, 2, 3]) await edge.get(`/api/notes/${id}`)
  await edge.get('/nowhere')
  await edge.get('/version')

  const { body, headers } = await edge.get('/metrics')

  expect(headers.get('content-type')).toContain('text/plain; version=0.0.4')
  const shown = 'method="GET",route="/api/notes/{id}",status="401"'
  const count = (labels: string) => `http_request_duration_seconds_count{${labels}}`
  expect(body).toContain(`${count(shown)} 3\n`)
  expect(body).toContain(`${count('method="GET",route="/version",status="200"')} 1\n`)
  expect(body).toContain(`${count('method="",route="",status="404"')} 1\n`)
  expect(body).toContain(`http_request_duration_seconds_bucket{${shown},le="+Inf"} 3\n`)
  expect(body).toContain('process_cpu_seconds_total')
  expect(body).toContain('nodejs_eventloop_lag_seconds')
})

test('the metrics are for whoever has their token, where they have one', async () => {
  await using edge = await startEdge([show], { settings: { metricsToken: new Secret('a-token-for-prometheus') } })
  const ask = (authorization?: string) =>
    fetch(`${edge.url}/metrics`, { headers: authorization === undefined ? {} : { authorization } })

  const answers = await Promise.all([
    ask(),
    ask('Bearer another-token-for-all'),
    ask('Basic a-token-for-prometheus'),
    ask('Bearer a-token-for-prometheus'),
  ])

  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 200])
  expect(answers[0]!.headers.get('www-authenticate')).toBe('Bearer realm="api"')
  expect(await answers[3]!.text()).toContain('process_cpu_seconds_total')
  expect((await edge.get('/version')).status).toBe(200)
})

test('the description is a valid OpenAPI 3.1 document', async () => {
  await using edge = await startEdge([show, create])

  const { body } = await edge.get('/api/openapi.json')
  const { valid, errors } = await new Validator().validate(body)

  expect(errors ?? []).toEqual([])
  expect(valid).toBe(true)
  expect({ openapi: body.openapi, version: body.info.version }).toEqual({ openapi: '3.1.1', version: '32.1.0' })
  expect(Object.keys(body.paths)).toEqual(
    expect.arrayContaining(['/api/notes/{id}', '/version', '/status', '/api/openapi.json']),
  )
})

test('the description shares what has a name, and types integers as strings or integers', async () => {
  await using edge = await startEdge([show, create])

  const { schemas } = (await edge.get('/api/openapi.json')).body.components

  expect(schemas.Note.properties.created_by).toEqual({ $ref: '#/components/schemas/Person' })
  expect(schemas.Person).toMatchObject({
    description: 'Somebody',
    properties: { id: { type: ['string', 'integer'] } },
    required: ['id'],
  })
})

test('the description says who may call, what comes in, and how it is refused', async () => {
  await using edge = await startEdge([show, create])

  const { paths } = (await edge.get('/api/openapi.json')).body
  const { get, post } = paths['/api/notes/{id}']

  expect(get.security).toEqual([{ AccessToken: [] }, { HostToken: [] }, { ApiKey: [] }])
  expect(get.parameters).toEqual([
    { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
    { name: 'tag', in: 'query', required: false, schema: { type: 'array', items: { type: 'string' } } },
    { name: 'at', in: 'query', required: true, description: 'An instant', schema: { type: 'string' } },
    { $ref: '#/components/parameters/Prefer' },
  ])
  expect(post.security).toEqual([{ ApiKey: [] }])
  expect(post.parameters).toContainEqual({ $ref: '#/components/parameters/IdempotencyKey' })
  expect(post.requestBody.required).toBe(true)
  expect(Object.keys(post.requestBody.content)).toEqual([
    'application/json',
    'application/json-patch+json',
    'text/json',
    'application/*+json',
  ])
  expect(Object.keys(post.responses)).toEqual(['201', '204', '400', '401', '403', '404', '409', '422', 'default'])
  expect(post.responses[409].description).toBe('This note cannot be changed any more.')
  expect(post.responses[409].content['application/problem+json'].schema).toEqual({
    $ref: '#/components/schemas/ProblemDetails',
  })
})

test('the description says how files come in and go out, and what a creating request without a body may be told', async () => {
  await using edge = await startEdge(
    serve(
      resources.flatMap(({ routes }) => routes),
      null as never,
    ),
  )

  const { paths } = (await edge.get('/api/openapi.json')).body

  const form = paths['/api/blobs'].post.requestBody.content['multipart/form-data'].schema
  expect(form).toMatchObject({ properties: { blob: { type: 'string' } }, required: ['blob'] })
  const answers = paths['/content/files/{id}/{rev}'].get.responses
  expect(Object.keys(answers)).toEqual(['200', '206', '304', '404', '416', '422', '500', 'default'])
  expect(answers[206].content).toEqual(answers[200].content)
  const redeliver = paths['/api/webhooks/{id}/deliveries/{delivery}/redeliver'].post
  expect(redeliver.responses).toHaveProperty('422')
})

test('the description of the whole API is valid, and leaves no reference open', async () => {
  await using edge = await startEdge(
    serve(
      resources.flatMap(({ routes }) => routes),
      null as never,
    ),
  )

  const { body } = await edge.get('/api/openapi.json')
  const { errors } = await new Validator().validate(structuredClone(body))

  expect(errors ?? []).toEqual([])
  const known = Object.keys(body.components.schemas)
  for (const [, name] of JSON.stringify(body).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
    expect(known).toContain(name)
})

test('the description is made a piece at a time, so that nobody waits for all of it', async () => {
  const routes = resources.flatMap(resource => resource.routes)
  await using edge = await startEdge(serve(routes, null as never))
  let [turns, isMade] = [0, false]
  const count = () => {
    turns++
    if (!isMade) setImmediate(count)
  }

  const description = edge.get('/api/openapi.json')
  count()
  const { body } = await description
  isMade = true

  expect(turns).toBeGreaterThan(Object.values(body.paths as Record<string, object>).flatMap(Object.keys).length)
})
