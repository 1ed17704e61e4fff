import { expect, test } from 'vitest'
import { z } from 'zod'
import { RequestIds } from '../../src/http/request/head.ts'
import { reply, route } from '../../src/http/route.ts'
import { startEdge } from '../support/edge.ts'

const show = route('GET /api/people/{name}', {
  summary: 'Shows somebody',
  auth: 'none',
  params: z.object({ name: z.string() }),
  replies: { 200: z.object({ name: z.string() }) },
  problems: [],
  async handle({ params }) {
    if (params.name === 'bug') throw new Error('a bug')
    return reply(200, params)
  },
})

test('a request keeps the id that a proxy gave it, in its answer, its problem and the log', async () => {
  await using edge = await startEdge([show])
  const headers = { 'x-request-id': 'proxy-7f3a:1' }

  const found = await edge.get('/api/people/ann', headers)
  const lost = await edge.get('/api/nothing', headers)
  const failed = await edge.get('/api/people/bug', headers)

  expect(found.headers.get('x-request-id')).toBe('proxy-7f3a:1')
  expect(lost.body).toMatchObject({ status: 404, request_id: 'proxy-7f3a:1' })
  expect(failed.body).toMatchObject({ status: 500, request_id: 'proxy-7f3a:1' })
  expect(edge.logged).toMatchObject([{ level: 'error', request_id: 'proxy-7f3a:1', error: { message: 'a bug' } }])
})

test('a request without an id, or with one that is none, gets one that no other has', async () => {
  await using edge = await startEdge([show])
  const ids = new Set<string>()

  for (const given of ['', 'two words', 'a"quote', 'x'.repeat(129), '<b>']) {
    const { headers } = await edge.get('/api/people/ann', given === '' ? {} : { 'x-request-id': given })
    const id = headers.get('x-request-id')!
    expect(id).toMatch(/^[\w-]{22}$/)
    ids.add(id)
  }

  expect(ids.size).toBe(5)
})

test('ids of requests are random in every place: they tell nobody how many there were', () => {
  const ids = new RequestIds()
  const made = Array.from({ length: 2_000 }, () => ids.of(''))

  expect(new Set(made).size).toBe(made.length)
  for (let place = 0; place < 21; place++) {
    // Of 64 characters a place has nearly all; the last has 2 bits alone.
    expect(new Set(made.map(id => id[place])).size).toBeGreaterThan(60)
  }
  expect(made.toSorted()).not.toEqual(made)
})

test('the access log has a line for each request, with its route, and without what people are called or look for', async () => {
  await using edge = await startEdge([show], { settings: { accessLogging: 'all' } })

  await edge.get('/api/people/ann?_q=lost+love', { 'x-request-id': 'one' })
  await edge.get('/api/nothing', { 'x-request-id': 'two' })

  expect(edge.logged).toMatchObject([
    { message: 'Request', request_id: 'one', method: 'GET', route: '/api/people/{name}', status: 200 },
    { message: 'Request', request_id: 'two', route: '', status: 404 },
  ])
  expect(JSON.stringify(edge.logged)).not.toMatch(/ann|love/)
})

test('a sampled access log has every failure and one in a hundred of the others', async () => {
  await using edge = await startEdge([show], { settings: { accessLogging: 'sampled' } })

  for (let i = 0; i < 150; i++) await edge.get('/api/people/ann')
  await edge.get('/api/people/bug')

  const lines = edge.logged.filter(({ message }) => message === 'Request')
  expect(lines.map(({ status }) => status)).toEqual([200, 500])
})

test('without an access log nothing is written for requests that succeed', async () => {
  await using edge = await startEdge([show])

  await edge.get('/api/people/ann')

  expect(edge.logged).toEqual([])
})
