import { expect, test } from 'vitest'
import { z } from 'zod'
import { reply, route } from '../../src/http/route.ts'
import { startEdge } from '../support/edge.ts'

const Filters = z.object({
  q: z.string().optional(),
  tag: z.array(z.string()).optional(),
  order_by: z.string().optional(),
  message_id: z.string().optional(),
  take: z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).optional(),
  trashed: z.enum(['true', 'false', 'null']).default('false'),
})

const list = route('GET /api/items', {
  summary: 'Show what was understood',
  auth: 'none',
  query: Filters.refine(({ q }) => q !== 'forbidden', { path: ['q'], message: 'must not be this' }),
  replies: { 200: z.object({}) },
  handle: ({ query }) => reply(200, query),
})

const cases: [string, string, object][] = [
  ['plus is a space', '?order_by=id+desc', { order_by: 'id desc' }],
  ['an encoded plus is a plus', '?q=a%2Bb', { q: 'a+b' }],
  ['text is percent-decoded', '?q=caf%C3%A9%20%26%20bar', { q: 'café & bar' }],
  [
    'an encoded comma separates sort keys',
    '?order_by=pinned_at+desc%2Crev+desc',
    { order_by: 'pinned_at desc,rev desc' },
  ],
  ['repeated parameters make a list', '?tag=a&tag=b', { tag: ['a', 'b'] }],
  ['one parameter makes a list of one', '?tag=a', { tag: ['a'] }],
  ['of repeated single parameters the last one counts', '?q=a&q=b', { q: 'b' }],
  ['camelCase is understood', '?messageId=7&orderBy=id', { message_id: '7', order_by: 'id' }],
  ['empty values count as absent', '?q=&tag=&order_by=&trashed=', {}],
  ['empty values leave a list as it is', '?tag=a&tag=', { tag: ['a'] }],
  ['unknown parameters are ignored', '?x=1&tags=2&constructor=3&__proto__=4&toString=5', {}],
  ['unknown parameters may be malformed', '?x=%&q=a', { q: 'a' }],
  ['pieces without a name or a value are ignored', '?&&=&=a&q&q=b', { q: 'b' }],
  ['equals signs may be part of a value', '?q=a=b', { q: 'a=b' }],
]

test.each(cases)('%s', async (_, query, expected) => {
  await using edge = await startEdge([list])

  const { body } = await edge.get(`/api/items${query}`)

  expect(body).toEqual({ trashed: 'false', ...expected })
})

test.each(['%', '%zz', '%ff', 'a%00b', '%ed%a0%80'])('a value of %s is no text and is 422', async value => {
  await using edge = await startEdge([list])

  const { status, body } = await edge.get(`/api/items?q=${value}`)

  expect(status).toBe(422)
  expect(body.errors).toEqual({ q: ['is not valid percent-encoded text'] })
})

test('what the schema refuses is 422, and every field is named', async () => {
  await using edge = await startEdge([list])

  const { status, body } = await edge.get('/api/items?take=many&trashed=maybe')

  expect(status).toBe(422)
  expect(body.errors).toEqual({ take: ['must be a whole number'], trashed: ['must be true, false or null'] })
})

test('a rule over several parameters names the one that it blames', async () => {
  await using edge = await startEdge([list])

  expect((await edge.get('/api/items?q=forbidden')).body.errors).toEqual({ q: ['must not be this'] })
})

test('an address of more than 32 KiB is 414', async () => {
  await using edge = await startEdge([list])

  const long = await edge.get(`/api/items?x=${'a'.repeat(32_000)}`)
  const tooLong = await edge.get(`/api/items?x=${'a'.repeat(33_000)}`)

  expect(long.status).toBe(200)
  expect({ status: tooLong.status, code: tooLong.body.code }).toEqual({ status: 414, code: 'uri-too-long' })
})
