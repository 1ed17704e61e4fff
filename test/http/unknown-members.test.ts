import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { knownOf, type Known } from '../../src/http/request/names/known-members.ts'
import { Unknown, type Handling } from '../../src/http/request/names/unknown.ts'
import { reply, route } from '../../src/http/route.ts'
import { resources } from '../../src/resources/index.ts'
import { startEdge } from '../support/edge.ts'

const Member = z.object({ user: z.string().optional(), access: z.enum(['read', 'write']).nullish() })
const App = z.object({ id: z.string(), display_name: z.string(), is_stared: z.boolean(), rev: z.string() })

const save = route('POST /api/apps', {
  summary: 'Show what was understood',
  auth: 'none',
  body: z
    .object({
      display_name: z.string().optional(),
      access: z.string().optional(),
      is_starred: z.boolean().optional(),
      members: z.array(Member).max(500).nullish(),
      options: z
        .array(z.object({ text: z.string() }))
        .optional()
        .transform(list => list ?? []),
      link: z.union([z.string(), z.object({ type: z.string(), id: z.string() })]).optional(),
      metadata: z.record(z.string(), z.unknown()).optional(),
      raw: z.looseObject({}).optional(),
    })
    .refine(() => true),
  bodyLimitBytes: 4 * 1024 * 1024,
  replies: { 200: App, 204: null },
  handle: () => reply(200, {}),
})
const add = route('PUT /api/members', {
  summary: 'Show what was understood',
  auth: 'none',
  body: z.array(Member),
  replies: { 204: null },
  handle: () => reply(204),
})

test.each([
  [{ mebmers: [] }, 'mebmers', 'members'],
  [{ member: [] }, 'member', 'members'],
  [{ Members: [] }, 'Members', 'members'],
  [{ displayName: 'x' }, 'displayName', 'display_name'],
  [{ 'display-name': 'x' }, 'display-name', 'display_name'],
  [{ dispaly_nmae: 'x' }, 'dispaly_nmae', 'display_name'],
  [{ acces: 'read' }, 'acces', 'access'],
  [{ is_strared: true }, 'is_strared', 'is_starred'],
  [{ meta_data: {} }, 'meta_data', 'metadata'],
  [{ members: [{}, { acess: 'read' }] }, 'members.1.acess', 'access'],
  [{ options: [{ text: 'a', txt: 'b' }] }, 'options.0.txt', 'text'],
  [{ link: { type: 'post', id: '1', ID: '2' } }, 'link.ID', 'id'],
])('%j is 422 and names what was meant', async (body, name, meant) => {
  await using edge = await startEdge([save])

  const answer = await edge.post('/api/apps', body)

  expect(answer.status).toBe(422)
  expect(answer.body.errors).toEqual({ [name]: [`is not known here; did you mean ${meant}?`] })
  expect(answer.body.detail).toBe(`${name} is not known here; did you mean ${meant}?`)
})

test('what is wrong beside it is told too', async () => {
  await using edge = await startEdge([save])

  const { body } = await edge.post('/api/apps', { options: [{ txt: 'a' }], access: 5 })

  expect(body.errors).toEqual({
    'options.0.txt': ['is not known here; did you mean text?'],
    'options.0.text': ['is required'],
    access: ['must be text'],
  })
})

test('the items of a list that is the whole body are looked at as well', async () => {
  await using edge = await startEdge([add])

  const { body } = await edge.put('/api/members', [{ user: 'ann' }, { usr: 'ben' }])

  expect(body.errors).toEqual({ '1.usr': ['is not known here; did you mean user?'] })
})

test('other members are ignored and listed, as a header can hold them', async () => {
  await using edge = await startEdge([save])
  const body = { colour: 1, 'a b,c': 2, 'é\r\nX: 1': 3, 'a.b': 4, options: [{ text: 'a', weight: 1 }] }

  const { status, headers } = await edge.post('/api/apps', body, { origin: 'https://app.example' })

  expect(status).toBe(200)
  expect(headers.get('x-service-ignored')).toBe('colour, a%20b%2Cc, %C3%A9%0D%0AX%3A%201, a%2Eb, options.0.weight')
  expect(headers.get('access-control-expose-headers')).toContain('X-Service-Ignored')
})

test('the list is short, however much is ignored', async () => {
  await using edge = await startEdge([save])
  const many = Object.fromEntries(Array.from({ length: 25_000 }, (_, i) => [`zz${i.toString(36)}qq`, 1]))

  const [cut, long] = [await edge.post('/api/apps', many), await edge.post('/api/apps', { ['x'.repeat(70_000)]: 1 })]

  const listed = cut.headers.get('x-service-ignored')!.split(', ')
  expect(listed).toHaveLength(21)
  expect(listed.at(-1)).toBe('...')
  expect(long.headers.get('x-service-ignored')).toBe('...')
})

test('free-form JSON has no unknown members', async () => {
  await using edge = await startEdge([save])
  const anything = { mebmers: [], acces: 1, txt: { usr: 1 } }

  const { status, headers } = await edge.post('/api/apps', { metadata: anything, raw: anything })

  expect([status, headers.get('x-service-ignored')]).toEqual([200, null])
})

test('what was read may be sent back, though some of it only reads like something that can be written', async () => {
  await using edge = await startEdge([save])
  const read = { id: '7', display_name: 'x', is_stared: false, rev: '12' }

  const [usual, strict] = [
    await edge.post('/api/apps', read),
    await edge.post('/api/apps', read, { prefer: 'handling=strict' }),
  ]

  expect([usual.status, usual.headers.get('x-service-ignored')]).toEqual([200, 'id, is_stared, rev'])
  expect(strict.body.errors).toMatchObject({ rev: ['is only read, and cannot be set here'] })
})

test.each([
  ['handling=strict', 'handling=strict', 422, null],
  ['scalars=number, Handling="strict"', 'scalars=number, handling=strict', 422, null],
  ['handling=lenient', 'handling=lenient', 200, 'mebmers, colour'],
  ['handling=odd', null, 422, null],
])('Prefer: %s is answered by Preference-Applied: %s', async (prefer, applied, status, ignored) => {
  await using edge = await startEdge([save])

  const { headers, ...answer } = await edge.post('/api/apps', { mebmers: [], colour: 1 }, { prefer })

  expect([answer.status, headers.get('preference-applied')]).toEqual([status, applied])
  expect(headers.get('x-service-ignored')).toBe(ignored)
  if (applied?.includes('strict')) expect(Object.keys(answer.body.errors)).toEqual(['mebmers', 'colour'])
})

test('the UI kit may send what it likes', async () => {
  await using edge = await startEdge([save])

  const { status, headers } = await edge.post('/api/apps', { mebmers: [] }, { 'x-weavy-source': 'kit@1' })

  expect([status, headers.get('x-service-ignored')]).toEqual([200, null])
})

/** All objects in the bodies of the API: the names of their members, and what a body looks like around them. */
const objects = resources
  .flatMap(({ routes, adminRoutes = [] }) => [...routes, ...adminRoutes])
  .flatMap(({ method, path, body, replies }) => {
    const answers = Object.values(replies).filter(schema => schema !== null)
    const known = body === undefined ? null : knownOf(body, answers)
    return known === null ? [] : within(known).map(object => ({ operation: `${method} ${path}`, known, ...object }))
  })

interface InBody {
  members: NonNullable<Known['members']>
  around: (value: object) => unknown
}

function within(known: Known): InBody[] {
  const own = known.members === undefined ? [] : [{ members: known.members, around: (value: object) => value }]
  const wrap = (inner: Known | null, around: (value: unknown) => unknown): InBody[] =>
    inner === null
      ? []
      : within(inner).map(({ members, around: closer }) => ({ members, around: value => around(closer(value)) }))
  return [
    ...own,
    ...wrap(known.items, item => [item]),
    ...Array.from(known.members ?? []).flatMap(([name, member]) => wrap(member.known, value => ({ [name]: value }))),
  ]
}

function look(known: Known, body: unknown, handling: Handling = 'usual'): Unknown {
  const unknown = new Unknown(handling)
  unknown.look(known, body)
  return unknown
}

test('no member that an operation knows or answers is taken for a mistake', () => {
  expect(objects.length).toBeGreaterThan(40)
  for (const { operation, known, members, around } of objects) {
    const whole = Object.fromEntries(Array.from(members.keys(), name => [name, null]))

    expect(look(known, around(whole)).errors, operation).toBeUndefined()
  }
})

test('a word that is like none of them is ignored and listed, in every body', () => {
  for (const { operation, known, around } of objects) {
    const { errors, header } = look(known, around({ zqxjkvbp: 1 }))

    expect([errors, header.split('.').at(-1)], operation).toEqual([undefined, 'zqxjkvbp'])
    expect(look(known, around({ zqxjkvbp: 1 }), 'strict').errors, operation).toBeDefined()
  }
})

test('a slip of the keyboard in any of them is refused, in every body', () => {
  const slips = objects.flatMap(({ members, ...object }) =>
    Array.from(members).flatMap(([name, { isInput }]) =>
      isInput && name.length > 3 ? [{ ...object, members, name }] : [],
    ),
  )
  fc.assert(
    fc.property(
      fc.constantFrom(...slips),
      fc.nat(),
      fc.nat(3),
      ({ operation, known, members, around, name }, at, way) => {
        const i = 1 + (at % (name.length - 2))
        const [before, here, next, after] = [name.slice(0, i), name[i]!, name[i + 1]!, name.slice(i + 2)]
        const slip = [
          before + next + here + after,
          before + next + after,
          before + here + here + next + after,
          name.toUpperCase(),
        ][way]!
        fc.pre(!members.has(slip))

        expect(look(known, around({ [slip]: null })).errors, `${operation}: ${slip}`).toBeDefined()
      },
    ),
    { numRuns: 2_000 },
  )
})
