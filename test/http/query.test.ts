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
  ['a single parameter may be repeated with the same value', '?q=a&q=a', { q: 'a' }],
  ['camelCase is understood', '?messageId=7&orderBy=id', { message_id: '7', order_by: 'id' }],
  ['empty values count as absent', '?q=&tag=&order_by=&trashed=', {}],
  ['empty values leave a list as it is', '?tag=a&tag=', { tag: ['a'] }],
  ['names that begin with an underscore are for caches', '?_=1&_t=2&__proto__=4', {}],
  ['what they are may be malformed', '?_=%&q=a', { q: 'a' }],
  ['pieces without a name or a value are ignored', '?&&=&=a&q&q=b', { q: 'b' }],
  ['equals signs may be part of a value', '?q=a=b', { q: 'a=b' }],
]

test.each(cases)('%s', async (_, query, expected) => {
  await using edge = await startEdge([list])

  const { body } = await edge.get(`/api/items${query}`)

  expect(body).toEqual({ trashed: 'false', ...expected })
})

const takes = 'is not a parameter of this operation: it takes q, tag, order_by, message_id, take or trashed'
const meant = (name: string) => `is not a parameter of this operation: did you mean ${name}?`

test.each([
  ['x', takes],
  ['constructor', takes],
  ['toString', takes],
  ['user', takes],
  ['tags', meant('tag')],
  ['Take', meant('take')],
  ['tkae', meant('take')],
  ['order-by', meant('order_by')],
  ['orderby', meant('order_by')],
  ['messageid', meant('message_id')],
  ['mesage_id', meant('message_id')],
  ['trash', takes],
  ['trashd', meant('trashed')],
])('%s is no parameter, with and without a value, and is 422 that names it', async (name, text) => {
  await using edge = await startEdge([list])

  for (const query of [`${name}=1`, `q=a&${name}=`, name]) {
    const { status, body } = await edge.get(`/api/items?${query}`)

    expect(status).toBe(422)
    expect(body).toMatchObject({ errors: { [name]: [text] }, detail: expect.stringContaining(`${name} ${text}`) })
  }
})

test('two values of a parameter that takes one contradict each other', async () => {
  await using edge = await startEdge([list])

  const { status, body } = await edge.get('/api/items?q=a&q=b')

  expect(status).toBe(422)
  expect(body.detail).toBe('q takes one value, and two were given.')
})

test('the UI kit, and who asks for it, may send parameters that nobody knows', async () => {
  await using edge = await startEdge([list])

  const kit = await edge.get('/api/items?x=1&tags=2&q=a&q=b', { 'x-weavy-source': 'kit@1' })
  const lenient = await edge.get('/api/items?x=1&tags=2&q=a', { prefer: 'handling=lenient' })
  const strict = await edge.get('/api/items?x=1', { 'x-weavy-source': 'kit@1', prefer: 'handling=strict' })

  expect([kit.status, kit.body.q, kit.headers.get('x-service-ignored')]).toEqual([200, 'b', null])
  expect([lenient.status, lenient.headers.get('x-service-ignored')]).toEqual([200, '?x, ?tags'])
  expect(lenient.headers.get('preference-applied')).toBe('handling=lenient')
  expect([strict.status, strict.headers.get('preference-applied')]).toEqual([422, 'handling=strict'])
})

test('what reads no parameters refuses them, but for what probes and people open', async () => {
  await using edge = await startEdge([list])

  const [description, ...others] = await Promise.all(
    ['/api/openapi.json', '/version', '/live', '/api/docs'].map(path => edge.get(`${path}?cache=1`)),
  )

  expect(description!.status).toBe(422)
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200])
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

  const long = await edge.get(`/api/items?_=${'a'.repeat(32_000)}`)
  const tooLong = await edge.get(`/api/items?_=${'a'.repeat(33_000)}`)

  expect(long.status).toBe(200)
  expect({ status: tooLong.status, code: tooLong.body.code }).toEqual({ status: 414, code: 'uri-too-long' })
})
