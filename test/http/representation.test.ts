import { expect, test } from 'vitest'
import { z } from 'zod'
import { reply, route } from '../../src/http/route.ts'
import { Json } from '../../src/api/json.ts'
import { startEdge } from '../support/edge.ts'

const show = route('GET /api/apps/{app}', {
  summary: 'Show',
  auth: 'none',
  query: z.object({ out: z.enum(['summary', 'details']).optional() }),
  replies: { 200: z.object({}) },
  handle: ({ representation }) =>
    reply(200, {
      id: 12,
      items: representation.items,
      created_at: new Date('2026-07-08T09:30:00.9Z'),
      none: null,
      tags: [],
    }),
})

const ready = route('GET /api/ready', {
  summary: 'What was encoded before',
  auth: 'none',
  replies: { 200: z.object({}) },
  handle: () => reply(200, new Json('{"id": 12, "none": null}')),
})

test('scalars are strings, nulls and empty lists are left out, and times are to the second', async () => {
  await using edge = await startEdge([show])

  const { body, headers } = await edge.get('/api/apps/12')

  expect(body).toEqual({ id: '12', items: 'summary', created_at: '2026-07-08T09:30:00Z' })
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.has('preference-applied')).toBe(false)
})

test.each(['scalars=number', 'SCALARS="number"', 'respond-async, scalars=number', 'a; b, scalars = number; c'])(
  'Prefer: %s makes them numbers, and the answer says so',
  async prefer => {
    await using edge = await startEdge([show])

    const { body, headers } = await edge.get('/api/apps/12', { prefer })

    expect(body).toMatchObject({ id: 12, items: 'summary' })
    expect(headers.get('preference-applied')).toBe('scalars=number')
  },
)

test.each(['scalars=string', 'xscalars=number', 'scalars=numbers', 'return=minimal'])(
  'Prefer: %s changes nothing',
  async prefer => {
    await using edge = await startEdge([show])

    const { body, headers } = await edge.get('/api/apps/12', { prefer })

    expect(body.id).toBe('12')
    expect(headers.has('preference-applied')).toBe(false)
  },
)

test('the UI kit gets numbers and whole items without asking', async () => {
  await using edge = await startEdge([show])

  const { body, headers } = await edge.get('/api/apps/12', { 'x-weavy-source': '@weavy/uikit-web@32.2.0' })

  expect(body).toMatchObject({ id: 12, items: 'details' })
  expect(headers.has('preference-applied')).toBe(false)
})

test('the query decides about items, whoever asks', async () => {
  await using edge = await startEdge([show])

  const details = await edge.get('/api/apps/12?out=details')
  const summary = await edge.get('/api/apps/12?x=1&out=summary', { 'x-weavy-source': 'kit' })

  expect(details.body).toMatchObject({ id: '12', items: 'details' })
  expect(summary.body).toMatchObject({ id: 12, items: 'summary' })
})

test('what was encoded before goes out as it is', async () => {
  await using edge = await startEdge([ready])

  expect((await edge.get('/api/ready')).body).toEqual({ id: 12, none: null })
})
