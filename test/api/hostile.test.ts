import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import type { Answer } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

/** Values that no member of these requests is meant to have; JSON text, because some have no other form. */
const values = [
  ...['null', 'true', '0', '-1', '1.5', '-0', '1e999', '9007199254740993', '123456789012345678901234567890'],
  ...['""', '" "', '"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00x"', '"\\uffff"', '"\\u202e"', '"\\u0007"'],
  ...['"\'; drop table apps; --"', '"$1"', '"%s%n"', '"{1,2}"', '"NULL"', '"\\\\"', '"\\"', '"../../etc/passwd"'],
  ...['"<script>alert(1)</script>"', '"[x](javascript:alert(1))"', '"[x](@u99999999999999999999)"', '"[x](@u1)"'],
  ...['[]', '[[]]', '[null]', '[1,"a",{}]', '{}', '{"__proto__":{"isAdmin":true}}', '{"constructor":{"prototype":{}}}'],
  ...['{"toString":1,"hasOwnProperty":2,"length":3}', '{"a\\u0000b":1}', '{"":""}', '{"id":1,"user":2}'],
  JSON.stringify('x'.repeat(70_000)),
  JSON.stringify('🏳️‍🌈'.repeat(200)),
  JSON.stringify('é'.repeat(300)),
  JSON.stringify('*'.repeat(3_000)),
  JSON.stringify('['.repeat(3_000)),
  JSON.stringify('> '.repeat(1_000)),
  '['.repeat(60) + ']'.repeat(60),
  '['.repeat(70) + ']'.repeat(70),
  '['.repeat(20_000) + ']'.repeat(20_000),
  `{"a":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`,
  `[${'1,'.repeat(1_000)}1]`,
  `{${Array.from({ length: 500 }, (_, i) => `"k${i}":${i}`).join(',')}}`,
]

/** Nothing may be a failure of the server, and every refusal of a value says which one it was. */
function judge(answers: [string, Answer][]): string[] {
  return answers.flatMap(([request, { status, body }]) => {
    const isFine = status < 400 || [400, 403, 404].includes(status)
    const isNamed = status === 422 && Object.keys(body.errors ?? {}).every(name => name !== '')
    return isFine || isNamed ? [] : [`${request.slice(0, 200)} → ${status} ${JSON.stringify(body)?.slice(0, 200)}`]
  })
}

async function inTurn(requests: [string, () => Promise<Answer>][]): Promise<[string, Answer][]> {
  const answers: [string, Answer][] = []
  for (let i = 0; i < requests.length; i += 20) {
    const part = requests.slice(i, i + 20)
    answers.push(
      ...(await Promise.all(part.map(async ([name, run]): Promise<[string, Answer]> => [name, await run()]))),
    )
  }
  return answers
}

test('no value in the body of a request is a failure, whichever member it stands in', async () => {
  await using server = await startServer()
  const {
    app: room,
    people: [ann, ben],
  } = await server.chatWith(2)
  const { body: app } = await ann.post('/api/apps', { type: 'chat', uid: 'target' })
  const { body: message } = await ann.post(`/api/apps/${app.id}/messages`, { text: 'here' })
  const bodies: [string, string, (value: string) => string][] = [
    ...['type', 'uid', 'name', 'description', 'metadata', 'tags', 'access', 'directory', 'members', 'picture'].flatMap(
      (name): [string, string, (value: string) => string][] => [
        ['POST', '/api/apps', value => `{"type":"chat","${name}":${value}}`],
        ['PATCH', `/api/apps/${app.id}`, value => `{"${name}":${value}}`],
        ['PUT', `/api/apps/target`, value => `{"type":"chat","${name}":${value}}`],
      ],
    ),
    ...['text', 'metadata', 'tags', 'options', 'embed_id', 'meeting_id', 'blobs', 'context'].flatMap(
      (name): [string, string, (value: string) => string][] => [
        ['POST', `/api/apps/${app.id}/messages`, value => `{"${name}":${value}}`],
        ['PATCH', `/api/messages/${message.id}`, value => `{"${name}":${value}}`],
      ],
    ),
    ['PUT', `/api/apps/${app.id}/members/${ben.id}`, value => `{"access":${value}}`],
    ['PUT', `/api/apps/${app.id}/members`, value => `[{"user":${value}}]`],
    ['PUT', `/api/apps/${app.id}/members`, value => `[${value}]`],
    ['DELETE', `/api/apps/${room}/members`, value => `[${value}]`],
    ['POST', '/api/apps', value => `{"type":"private_chat","members":[${value}]}`],
    ['POST', '/api/apps', value => value],
    ['PATCH', `/api/apps/${app.id}`, value => value],
    ['POST', `/api/apps/${app.id}/messages`, value => value],
    ['PATCH', `/api/messages/${message.id}`, value => value],
    ['PUT', `/api/apps/${app.id}/members`, value => value],
  ]

  const requests = bodies.flatMap(([method, path, toBody]) =>
    values.map((value): [string, () => Promise<Answer>] => {
      const body = toBody(value)
      return [`${method} ${path} ${body}`, () => ann.request(method, path, { body })]
    }),
  )
  const answers = await inTurn(requests)

  expect(judge(answers)).toEqual([])
  // Both people, the apps and the server are as they were.
  expect((await ann.get(`/api/apps/${app.id}`)).body.permissions).toContain('admin')
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
}, 60_000)

test('no value in a path or query is a failure', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const odd = [
    ...['', '%00', '%', '%zz', '%c0%af', '%ed%a0%80', '%f0%9f%98%80', '..%2f', '%2e%2e', '..%5c', '%20', '+', '%0d%0a'],
    ...['0', '-0', '-1', '1.5', '1e3', '0x10', '９', 'NaN', 'null', 'undefined', 'true', '[]', '{}', '__proto__', '*'],
    ...[
      "'",
      "';drop",
      '%27%20or%201=1--',
      '9223372036854775807',
      '9223372036854775808',
      '1'.repeat(15),
      '1'.repeat(400),
    ],
    ...['x'.repeat(5_000), '%25', '%2525', '&', '=', '%26a%3db', 'a%00b', 'desc', 'id+desc,id', ',', ';'],
  ]
  const paths = [
    ...['', '/messages', '/members', '/mark', '/pin'].map(rest => (value: string) => `/api/apps/${value}${rest}`),
    (value: string) => `/api/apps/${app}/members/${value}`,
    (value: string) => `/api/messages/${value}`,
    (value: string) => `/api/messages/${value}/trash`,
    ...['directory', 'archived', 'member', 'type', 'uid', 'unread'].map(
      name => (value: string) => `/api/apps?${name}=${value}`,
    ),
    ...['q', 'tag', 'trashed', 'order_by', 'skip', 'take', 'count_only', 'around', 'out', 'message_id'].flatMap(
      name => [
        (value: string) => `/api/apps?${name}=${value}`,
        (value: string) => `/api/messages?${name}=${value}`,
        (value: string) => `/api/apps/${app}/messages?${name}=${value}`,
        (value: string) => `/api/apps/${app}/members?${name}=${value}&member=null`,
      ],
    ),
    (value: string) => `/api/apps/${app}/mark?message_id=${value}`,
    (value: string) => `/api/apps?${value}=1&${value}`,
  ]
  const methods = ['GET', 'PUT', 'DELETE', 'POST', 'PATCH']

  const requests = paths.flatMap(toPath =>
    odd.flatMap(value =>
      (toPath(value).includes('?') && !toPath(value).includes('/mark') ? ['GET'] : methods).map(
        (method): [string, () => Promise<Answer>] => {
          const path = toPath(value)
          const body = method === 'GET' ? undefined : method === 'DELETE' ? [] : {}
          return [`${method} ${path}`, () => ann.request(method, path, { body })]
        },
      ),
    ),
  )
  const answers = await inTurn(requests)

  // What the client makes of dots may be another path, with another method.
  expect(judge(answers.filter(([, { status }]) => status !== 405 && status !== 414))).toEqual([])
}, 60_000)

test('what was stored of hostile texts comes back as it was sent, or without what no text may hold', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const texts = [
    "'; drop table messages; --",
    '{"a","b"}',
    'NULL',
    '\\N',
    '$1 $$ %s',
    'a\\"b\\\\',
    '\u202egnp.exe',
    '\u{1f3f3}\ufe0f\u200d\u{1f308}',
    '\uffff\ufffd',
  ]
  const metadata = {
    "it's": { 'quoted "key"': ['\\', '{', '}', ',', 'NULL', ''] },
    constructor: 1,
    toString: null,
    '': 0.1,
  }

  for (const text of texts) {
    const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text, metadata, tags: texts.slice(0, 5) })
    expect(message).toMatchObject({ text, metadata, tags: texts.slice(0, 5) })
    const { body: read } = await ann.get(`/api/messages/${message.id}`)
    expect([read.text, read.metadata, read.tags]).toEqual([text, metadata, texts.slice(0, 5)])
  }

  await using other = await startServer({ DATABASE_URL: database.url })
  const { body } = await other.request('GET', `/api/apps/${app}/messages?take=100`, { token: ann.token })
  expect(body.data.map((message: { text: string }) => message.text)).toEqual(texts)
  for (const message of body.data) expect(message.metadata).toEqual(metadata)
})

test('members that the schema of an object lends are not taken for members that were sent', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  const made = await ann.post('/api/apps', '{"type":"chat","__proto__":{"name":"polluted","uid":"polluted"}}')

  expect(made.status).toBe(201)
  expect(made.body).not.toHaveProperty('name')
  expect(made.body).not.toHaveProperty('uid')
})

test.each(['constructor', '__proto__'])('no extension is one that every object has: %s', async extension => {
  await using server = await startServer()
  const form = new FormData()
  form.append('blob', new Blob(['x']), `x.${extension}`)

  const { status, body } = await server.admin.post('/api/blobs', form, { 'idempotency-key': 'once' })

  expect([status, body.media_type]).toEqual([201, 'application/octet-stream'])
})

test.each([
  ['parts without a head', (_: number) => '--a\r\n'],
  ['fields', (at: number) => `--a\r\ncontent-disposition: form-data; name="${at}"\r\n\r\nx\r\n`],
  ['files', (at: number) => `--a\r\ncontent-disposition: form-data; name="${at}"; filename="x"\r\n\r\nx\r\n`],
])('a form of many %s is refused before it takes long', async (_name, toPart) => {
  await using server = await startServer()
  const file = '--a\r\ncontent-disposition: form-data; name="blob"; filename="x"\r\n\r\nx\r\n'
  const parts = Array.from({ length: 200_000 }, (_, at) => toPart(at)).join('')
  const delay = monitorEventLoopDelay({ resolution: 20 })

  delay.enable()
  const answer = await server.request('POST', '/api/blobs', {
    token: server.key,
    body: `${file}${parts}--a--`,
    headers: { 'content-type': 'multipart/form-data; boundary=a' },
  })

  expect([answer.status, answer.body.code]).toEqual([422, 'too-many-parts'])
  expect(delay.max / 1e6).toBeLessThan(2000)
})

test('of far too many wrong values in one place, none is looked at', async () => {
  await using server = await startServer()
  const list = Array.from({ length: 99_000 }, () => '')
  const headers = { ...list.map(() => 1) }
  const agent = { uid: 'bot', name: 'Bot', provider: 'openai', model: 'm' }
  const functions = [{ name: 'f', description: 'f', url: 'https://x.example', headers }]

  const answers = await Promise.all([
    server.admin.post('/api/users', { uid: 'ann', tags: list }),
    server.admin.post('/api/users', { uid: 'ann', directories: list }),
    server.admin.post('/api/webhooks', { payload_url: 'https://x.example', triggers: list }),
    server.admin.post('/api/agents', { ...agent, functions }),
  ])

  expect(answers.map(({ body }) => body.errors)).toEqual([
    { tags: ['must have at most 500 items'] },
    { directories: ['must have at most 500 items'] },
    { triggers: ['must have at most 500 items'] },
    { body: ['must not have more than 30000 members of objects'] },
  ])
})
