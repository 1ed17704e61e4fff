import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type Database } from '../support/database.ts'
import type { Answer, Body, Client } from '../support/client.ts'
import { create } from '../support/content.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

let database: Database
/** Two nodes on one database. */
let server: Server
let second: Server
let ann: Person
beforeAll(async () => {
  database = await createDatabase()
  server = await startServer({ DATABASE_URL: database.url })
  second = await startServer({ DATABASE_URL: database.url })
  ann = await server.person('Ann')
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

/** Two spellings of one name each. */
const pairs: [string, string][] = [
  ['caf\u00e9', 'cafe\u0301'],
  ['Ångström', '\u212bNGSTRO\u0308M'],
  ['각', '\u1100\u1161\u11a8'],
  ['straße', 'STRAẞE'],
  ['οδος', 'ΟΔΟΣ'],
  ['İvb', 'i\u0307VB'],
  ['ſo', 'So'],
  ['ẖ', 'H\u0331'],
  ['\u212aelvin', 'kelvin'],
]

/** Each noun with names that programs know: how one is made, changed and read, by the API key of a node. */
const nouns: { noun: string; field: string; path: string; fields: object; taken: number; upserts: boolean }[] = [
  { noun: 'user', field: 'uid', path: '/api/users', fields: {}, taken: 422, upserts: true },
  {
    noun: 'agent',
    field: 'uid',
    path: '/api/agents',
    fields: { name: 'A', provider: 'openai', model: 'm' },
    taken: 422,
    upserts: true,
  },
  { noun: 'app', field: 'uid', path: '/api/apps', fields: { type: 'chat' }, taken: 422, upserts: true },
  { noun: 'directory', field: 'name', path: '/api/directories', fields: {}, taken: 409, upserts: false },
]

let count = 0

test.each(nouns)('two spellings of a name are one $noun, whichever is asked for', async row => {
  const { field, path, fields, taken, upserts } = row
  for (const pair of pairs) {
    const [one, other] = pair.map(name => `${name}-${row.noun}${++count % 2 ? count : count - 1}`) as [string, string]
    const made = await create(server.admin, path, { [field]: one, ...fields })
    expect(made[field]).toBe(one.normalize('NFC'))

    expect((await server.admin.post(path, { [field]: other, ...fields })).status).toBe(taken)
    for (const name of [one, other, one.normalize('NFD')])
      expect((await second.admin.get(`${path}/${encodeURIComponent(name)}`)).body.id).toBe(made.id)
    if (upserts) {
      const { status, body } = await second.admin.put(`${path}/${encodeURIComponent(other)}`, fields)
      expect([status, body.id]).toEqual([200, made.id])
    }
    expect((await server.admin.patch(`${path}/${made.id}`, { [field]: other })).body[field]).toBe(
      other.normalize('NFC'),
    )
  }
})

test.each(nouns)('of spellings of a name that come to two nodes at once, one makes the $noun', async row => {
  const { field, path, fields, noun } = row
  for (let round = 0; round < 5; round++) {
    const spellings = ['caf\u00e9', 'cafe\u0301', 'CAF\u00c9', 'CAFE\u0301'].map(name => `${name}-${noun}-${round}`)
    const answers = await Promise.all(
      spellings.map((name, i) => (i % 2 ? second : server).admin.post(path, { [field]: name, ...fields })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, row.taken, row.taken, row.taken])
  }
})

/** Each place where a uid may stand, and what is told of one that may not. */
const places: [string, string, (uid: string) => Promise<Answer>][] = [
  ...nouns.flatMap(({ noun, field, path, fields, upserts }): typeof places => [
    [`a ${noun} that is made`, field, uid => server.admin.post(path, { [field]: uid, ...fields })],
    [
      `a ${noun} that is renamed`,
      field,
      async uid => {
        const made = await create(server.admin, path, { [field]: `named-${++count}`, ...fields })
        return server.admin.patch(`${path}/${made.id}`, { [field]: uid })
      },
    ],
    ...(upserts
      ? ([[`a ${noun} that is upserted`, field, uid => raw('PUT', `${path}/${encode(uid)}`, fields)]] as typeof places)
      : []),
  ]),
  ['a username', 'username', username => server.admin.post('/api/users', { uid: `named-${++count}`, username })],
]

test.each(places)('the name of %s has nothing in it that is not seen', async (_place, field, send) => {
  for (const mark of ['\u200b', '\u202e', '\u3164', '\u2800', '\u00ad', '\ufe0f']) {
    const { status, body } = await send(`ann${mark}`)
    expect([status, Object.keys(body.errors ?? {})]).toEqual([422, [field]])
  }
})

test.each(places.slice(0, -1))('the uid of %s means nothing else', async (place, field, send) => {
  for (const uid of ['true', 'False', '-1', 'a?b', 'a#b', 'a%62', 'a\\b']) {
    const { status, body } = await send(uid)
    expect([uid, status, Object.keys(body.errors ?? {})]).toEqual([uid, 422, [field]])
  }
  for (const uid of ['.', '..']) expect((await send(uid)).status, place).toBeOneOf([404, 405, 422])
})

test('a uid of u and digits is that of the own id, which it means in a mention', async () => {
  const { admin } = server
  const agent = { name: 'A', provider: 'openai', model: 'm' }
  const ben = await create(admin, '/api/users', { uid: 'ben' })
  const bot = await create(admin, '/api/agents', { uid: 'bot', ...agent })
  const next = Number(bot.id) + 100

  for (const uid of [`u${ann.id}`, `U${ben.id}`, 'u0', `u0${ann.id}`, `u${next}`, 'u999999999999999']) {
    const answers = [
      await admin.post('/api/users', { uid }),
      await admin.post('/api/agents', { uid, ...agent }),
      await admin.put(`/api/users/${uid}`, {}),
      await admin.put(`/api/agents/${uid}`, agent),
      ...(uid.slice(1) === ben.id ? [] : [await admin.patch(`/api/users/${ben.id}`, { uid })]),
      await admin.patch(`/api/agents/${bot.id}`, { uid }),
    ]
    for (const { status, body } of answers) {
      expect([uid, status]).toEqual([uid, 422])
      expect(body.errors.uid[0]).toContain('in a mention')
    }
  }
  expect((await admin.patch(`/api/users/${ben.id}`, { uid: `u${ben.id}` })).body.uid).toBe(`u${ben.id}`)
  expect((await admin.patch(`/api/users/${ben.id}`, { name: 'Ben' })).status).toBe(200)
  for (const uid of ['u-7', 'ux7', 'u7x', 'u'.padEnd(17, '7')])
    expect((await admin.post('/api/users', { uid })).status).toBe(201)
})

test('a path with dots leads to no other', async () => {
  await database.sql`insert into users (uid, display_name, created_at) values ('..', 'Dots', now())`
  for (const dots of ['.', '..', '%2e', '%2E%2e', '.%2e'])
    for (const [method, path] of [
      ['GET', `/api/users/${dots}`],
      ['PUT', `/api/apps/${dots}/notifications/mark`],
      ['DELETE', `/api/apps/${dots}/members/${dots}`],
    ] as const)
      expect((await raw(method, path)).status, path).toBe(404)
})

test('people sign in by any spelling of their username', async () => {
  await create(server.admin, '/api/users', { uid: 'zoe', username: 'Zoe\u0308', password: 'correct horse' })

  expect((await server.admin.post('/api/users', { uid: 'zoe2', username: 'ZO\u00cb' })).status).toBe(422)
  for (const username of ['Zo\u00eb', 'zoe\u0308', ' ZO\u00cb '])
    expect((await server.request('POST', '/api/auth', { body: { username, password: 'correct horse' } })).status).toBe(
      200,
    )
})

test('people are mentioned by any spelling of their uid', async () => {
  const jose = await server.person()
  await server.admin.patch(`/api/users/${jose.id}`, { uid: 'Jose\u0301' })
  const room = await create(ann, '/api/apps', { type: 'chat_room', members: [jose.id] })

  for (const uid of ['Jos\u00e9', 'jose\u0301', 'JOS\u00c9']) {
    const { html } = await create(ann, `/api/apps/${room.id}/messages`, { text: `[José](@${uid})` })
    expect(html).toContain(`data-eid="u${jose.id}"`)
  }
})

test('tags that are one are kept once, and found by any spelling', async () => {
  const room = await create(ann, '/api/apps', { type: 'chat' })
  const { id: folder } = await create(ann, '/api/apps', { type: 'files' })
  const { id: blob_id } = (await upload(ann, { name: 'tagged.txt', content: 'x' })).body
  for (const [one, other] of [...pairs, ['Red', 'red'] as const]) {
    const tag = one + ++count
    const same = other + count
    const tags = [tag, same]
    const items: [string, Client, Body][] = [
      ['/api/users', server.admin, await create(server.admin, '/api/users', { uid: `tagged-${count}`, tags })],
      ['/api/apps', ann, await create(ann, '/api/apps', { type: 'chat', tags })],
      [
        `/api/apps/${folder}/files`,
        ann,
        await create(ann, `/api/apps/${folder}/files`, { blob_id, name: `${count}.txt`, tags }),
      ],
      [`/api/apps/${room.id}/messages`, ann, await create(ann, `/api/apps/${room.id}/messages`, { text: 'x', tags })],
      ['/api/messages', ann, await create(ann, `/api/apps/${room.id}/messages`, { text: 'x', tags })],
    ]
    for (const [list, by, item] of items) {
      expect(item.tags).toEqual([tag.normalize('NFC')])
      for (const asked of [tag, same]) {
        const { body } = await by.get(`${list}?tag=${encodeURIComponent(asked)}&trashed=null`)
        expect([list, asked, (body.data ?? []).map(({ id }: Body) => id)]).toEqual([
          list,
          asked,
          expect.arrayContaining([item.id]),
        ])
      }
    }
  }
})

test('two spellings of a name are one file', async () => {
  const app = await create(ann, '/api/apps', { type: 'files' })
  const { id: blob_id } = (await upload(ann, { name: 'cafe\u0301.txt', content: 'x' })).body
  const file = await create(ann, `/api/apps/${app.id}/files`, { blob_id })
  expect(file.name).toBe('caf\u00e9.txt')

  const files = `/api/apps/${app.id}/files`
  expect((await ann.post(files, { blob_id, name: 'CAFE\u0301.txt' })).status).toBe(409)
  expect((await ann.post(files, { blob_id, name: 'cafe\u0301\u200b.txt' })).status).toBe(409)
  const replaced = await ann.post(files, { blob_id, name: 'CAFE\u0301.TXT', replace: true })
  expect([replaced.status, replaced.body.id]).toEqual([200, file.id])

  const { headers } = await fetch(file.download_url)
  expect(headers.get('content-disposition')).toContain(encodeURIComponent('caf\u00e9.txt'))
})

test('what notifications say of somebody stays between marks, so that a name cannot turn the sentence', async () => {
  const eve = await server.person()
  await server.admin.patch(`/api/users/${eve.id}`, { name: 'Eve \u202eenna\u2069' })
  const room = await create(ann, '/api/apps', { type: 'chat_room', members: [eve.id] })
  await create(eve, `/api/apps/${room.id}/messages`, { text: `[Ann](@u${ann.id}) \u202ehi\u2069` })

  await expect
    .poll(async () => (await ann.get(`/api/apps/${room.id}/notifications`)).body.data?.[0]?.plain ?? '')
    .toContain('\u2068Eve enna\u2069')
  const { plain } = (await ann.get(`/api/apps/${room.id}/notifications`)).body.data[0]
  expect(plain).toContain('"\u2068@Ann hi\u2069"')
})

/** Percent-encoded, dots too. */
function encode(uid: string): string {
  return encodeURIComponent(uid).replaceAll('.', '%2e')
}

/** Sends a path as it is, where fetch would resolve its dots. */
async function raw(method: string, path: string, body?: object): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const { hostname, port } = new URL(server.url)
  const sent = request(
    {
      hostname,
      port,
      path,
      method,
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    },
    async response => {
      const text = (await response.toArray()).join('')
      resolve({
        status: response.statusCode!,
        body: text === '' ? undefined : JSON.parse(text),
        headers: new Headers(),
      })
    },
  )
  sent.on('error', reject)
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}
