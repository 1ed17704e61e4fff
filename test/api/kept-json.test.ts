import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { client, type Body } from '../support/client.ts'
import { appOf, create } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { joinHub } from '../support/hub.ts'
import { listen, type Heard } from '../support/realtime.ts'
import { startReceiver } from '../support/receiver.ts'
import { redisIsMissing, startRedis } from '../support/redis.ts'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'
import { payloadOf, register } from '../support/webhooks.ts'

/** JSON with each number as the decimal that it is, whatever a double makes of it. */
function toExact(text: string): unknown {
  type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
  const parse = JSON.parse as (text: string, reviver: Reviver) => unknown
  return parse(text, (_key, value, { source }) => (typeof value === 'number' ? { number: toDecimal(source!) } : value))
}

function toDecimal(source: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([-+]?\d+))?$/i.exec(source)!
  let value = BigInt(whole! + fraction)
  let power = Number(exponent) - fraction.length
  if (value === 0n) return `${sign}0`
  while (value % 10n === 0n) [value, power] = [value / 10n, power + 1]
  return `${sign}${value}e${power}`
}

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 22 })
const number = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map(value => (Object.is(value, -0) ? '-0' : String(value))),
  },
  { weight: 3, arbitrary: fc.integer().map(String) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('', '-'), digits, fc.option(digits), fc.option(fc.integer({ min: -420, max: 420 })))
      .map(([sign, whole, fraction, exponent]) => {
        const start = sign + (whole.replace(/^0+/, '') || '0')
        return `${start}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `E${exponent}`}`
      }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '-0',
      '-0.0',
      '0e9',
      '1.0',
      '1e400',
      '0.1e-400',
      '9007199254740993',
      '12345678901234567890',
    ),
  },
)
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 5 }).map(value => JSON.stringify(value)),
  fc.constantFrom(
    '"\\u0041"',
    '"\\/"',
    '"\\ud83d\\ude00"',
    '"\\ud800"',
    '"\\u0000"',
    '"a\\": 1e400"',
    '"-0"',
    '"12345678901234567890"',
  ),
)
const name = fc.oneof(
  fc
    .constantFrom(...['a', 'a', 'b', '', '__proto__', 'constructor', 'toString', 'length', 'hasOwnProperty', '0', '1'])
    .map(value => JSON.stringify(value)),
  fc.constantFrom('"\\u0061"', '"\\u005f_proto__"', '"a\\"b"'),
  text,
)
const blank = fc.constantFrom('', '', '', ' ', '\n\t')
/** The text of a value, and whether all objects in it have each name once. */
const { value } = fc.letrec<{ value: { text: string; isUnique: boolean } }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.oneof(number, text, fc.constantFrom('true', 'false', 'null')).map(source => ({ text: source, isUnique: true })),
    fc.tuple(blank, fc.array(tie('value'), { maxLength: 4 })).map(([space, values]) => ({
      text: `[${space}${values.map(({ text }) => text).join(`${space},`)}]`,
      isUnique: values.every(({ isUnique }) => isUnique),
    })),
    fc.tuple(blank, fc.array(fc.tuple(name, tie('value')), { maxLength: 4 })).map(([space, members]) => ({
      text: `{${space}${members.map(([key, { text }]) => `${key}${space}:${space}${text}`).join(',')}${space}}`,
      isUnique:
        members.every(([, { isUnique }]) => isUnique) &&
        new Set(members.map(([key]) => JSON.parse(key) as string)).size === members.length,
    })),
  ),
}))

test('metadata comes back as it was sent, or is refused', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  let kept = 0
  let refused = 0

  await fc.assert(
    fc.asyncProperty(value, async ({ text, isUnique }) => {
      const { status, body } = await ann.post(`/api/apps/${app}/messages`, `{"text":"a","metadata":{"value":${text}}}`)

      if (status === 422) return void refused++
      kept++
      const { body: read } = await ann.get(`/api/messages/${body.id}`)
      expect(isUnique).toBe(true)
      for (const { metadata } of [body, read]) expect(toExact(JSON.stringify(metadata.value))).toEqual(toExact(text))
    }),
    { numRuns: 400 },
  )

  expect(Math.min(kept, refused)).toBeGreaterThan(40)
}, 60_000)

/** What is kept as it is, in a form that survives being written again: key by key, number by number. */
const kept = [
  '{"constructor":1,"toString":{"valueOf":null},"":[],"0":{},"length":-1,"then":"","a.b":[[],{},[null]]',
  '"whole":[9007199254740991,-9007199254740992,4294967296,1234567890123456800,1e21,1.7976931348623157e308]',
  '"parts":[1.5,0.1,0.30000000000000004,1e-7,5e-324,-2.2250738585072014e-308],"text":"\\u007f\\u2028\\ud83d\\ude00\\\\\\""}',
].join()
const lost = ['12345678901234567890', '1e400', '-0', '{"__proto__":1}', '{"a":1,"a":2}', '"\\u0000"', '"\\udc00"']

test('every noun with metadata keeps it, and refuses what it would change', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  const ann = await server.person('Ann')
  const chat = await appOf(server, 'chat_room', [ann])
  const feed = await appOf(server, 'posts', [ann])
  const files = await appOf(server, 'files', [ann])
  const { id: post } = await create(ann, `/api/apps/${feed}/posts`, { text: 'a' })
  await register(server, receiver.url, { triggers: ['messages'] })
  await using json = await listen(server.url, { token: ann.token })
  await using packed = await listen(server.url, { token: ann.token, protocol: 'msgpack' })
  for (const listener of [json, packed]) {
    listener.say({ type: 'subscribe', app_id: chat })
    await listener.hear('subscribed')
  }
  const { body: blob } = await upload(ann, { name: 'a.txt', content: 'a' })
  const places = [
    [ann, `/api/apps/${chat}/messages`, '"text":"a"', '/api/messages/'],
    [ann, `/api/apps/${feed}/posts`, '"text":"a"', '/api/posts/'],
    [ann, `/api/posts/${post}/comments`, '"text":"a"', '/api/comments/'],
    [ann, `/api/apps/${files}/files`, `"blob_id":${blob.id}`, '/api/files/'],
    [ann, '/api/apps', '"type":"chat_room","name":"a"', '/api/apps/'],
    [ann, '/api/meetings', '"join_url":"https://a.bc"', null],
    [ann, '/api/embeds', '"type":"link","title":"a"', '/api/embeds/'],
    [server.admin, '/api/users', '"uid":"ben","name":"Ben"', '/api/users/'],
    [server.admin, '/api/notifications', `"user":${ann.id},"text":"a"`, '/api/notifications/'],
    [server.admin, '/api/agents', '"uid":"agent","name":"a","provider":"builtin","model":"echo"', '/api/agents/'],
  ] as const

  for (const [who, path, members, one] of places) {
    const { status, body } = await who.post(path, `{${members},"metadata":${kept}}`)
    // A meeting is shown with the item that it hangs on.
    const read =
      one === null
        ? (await create(ann, `/api/apps/${feed}/posts`, { meeting_id: body.id })).meeting
        : (await who.get(one + body.id)).body
    const refusals = await Promise.all(lost.map(value => who.post(path, `{${members},"metadata":{"a":${value}}}`)))

    expect({ path, status, made: body.metadata, read: read.metadata }).toEqual({
      path,
      status: 201,
      made: JSON.parse(kept),
      read: JSON.parse(kept),
    })
    expect({ path, statuses: refusals.map(({ status }) => status) }).toEqual({ path, statuses: lost.map(() => 422) })
  }

  const { body: list } = await ann.get(`/api/apps/${chat}/messages?out=details`)
  expect(list.data[0].metadata).toEqual(JSON.parse(kept))
  for (const listener of [json, packed])
    expect((await listener.hear('event', ({ event }) => event === 'message_created')).message.metadata).toEqual(
      JSON.parse(kept),
    )
  const [delivery] = await receiver.take(1)
  expect(payloadOf(delivery).message.metadata).toEqual(JSON.parse(kept))
})

test.skipIf(redisIsMissing !== null)(
  'metadata is the same on every way out: live and read again, in each protocol, on the node that wrote it and on others',
  async () => {
    await using database = await createDatabase()
    await using redis = await startRedis()
    const settings = { DATABASE_URL: database.url, REDIS_URL: redis.url }
    await using writing = await startServer(settings)
    await using hearing = await startServer(settings)
    const { app, people } = await writing.chatWith(1)
    const [{ token, post, get }] = people
    const heard: Promise<Body>[] = []
    const parts: AsyncDisposable[] = []
    const isMade = ({ event }: Heard) => event === 'message_created'
    let head = '0'
    for (const { url } of [writing, hearing]) {
      for (const protocol of ['json', 'msgpack'] as const) {
        const listener = await listen(url, { token, protocol })
        head = String((await listener.subscribe(app)).head_rev)
        heard.push(listener.hear('event', isMade))
        parts.push(listener)
      }
      for (const protocol of ['json', 'messagepack'] as const) {
        const hub = await joinHub(url, { token: () => token, protocol })
        await hub.subscribe(`a${app}:message_created`)
        heard.push(hub.hear(`a${app}:message_created`))
        parts.push(hub)
      }
    }

    const key = { 'idempotency-key': 'once' }
    const body = `{"text":"a","metadata":${kept}}`
    const { body: made } = await post(`/api/apps/${app}/messages`, body, key)
    const { body: again } = await post(`/api/apps/${app}/messages`, body, key)
    const live = await Promise.all(heard)
    // It has seen nothing, and reads the log.
    await using late = await startServer(settings)
    for (const protocol of ['json', 'msgpack'] as const) {
      const listener = await listen(late.url, { token, protocol })
      listener.say({ type: 'subscribe', app_id: app, after: head })
      live.push(await listener.hear('event', isMade))
      parts.push(listener)
    }
    const elsewhere = await client(hearing.url, token).get(`/api/messages/${made.id}`)
    const numbers = await get(`/api/messages/${made.id}`, { prefer: 'scalars=number' })

    const shown = [made, again, elsewhere.body, numbers.body, ...live.map(({ message }) => message)]
    expect(shown.map(({ metadata }) => metadata)).toEqual(shown.map(() => JSON.parse(kept)))
    for (const part of parts) await part[Symbol.asyncDispose]()
  },
)

test('the schema of a function is kept, and refused where it would change', async () => {
  await using server = await startServer()
  const properties =
    '{"a":{"type":"number","minimum":-1e21,"default":0.1,"enum":[1e-7,9007199254740991]},"constructor":{},"":{}}'
  const toAgent = (uid: string, parameters: string) =>
    `{"uid":"${uid}","name":"a","provider":"openai","model":"a","functions":[{"name":"f","description":"a","url":"https://a.bc","parameters":${parameters}}]}`

  const { body } = await server.admin.post(
    '/api/agents',
    toAgent('one', `{"type":"object","properties":${properties}}`),
  )
  const { body: read } = await server.admin.get(`/api/agents/${body.id}/functions/f`)
  const refusal = await server.admin.post(
    '/api/agents',
    toAgent('two', '{"properties":{"a":{"maximum":12345678901234567890}}}'),
  )

  expect(read.parameters.properties).toEqual(JSON.parse(properties))
  expect(refusal.status).toBe(422)
  expect(Object.keys(refusal.body.errors)).toEqual(['functions.0.parameters.properties.a.maximum'])
})
