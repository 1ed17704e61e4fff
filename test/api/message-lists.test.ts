import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Sql } from '../../src/postgres/sql.ts'
import { client, type Body, type Client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { expectedPage, type ListedItem } from '../support/expected-page.ts'
import { startServer } from '../support/server.ts'

const idsOf = (body: Body): number[] => (body.data ?? []).map((item: Body) => Number(item.id))

interface Stored extends ListedItem {
  author: string
}

type Kind = 'messages' | 'posts' | 'comments'

interface Filled {
  table: Kind
  app: string
  /** The post that comments are about. */
  post: string | null
}

/**
 * Fills an app or post that nobody has used yet: as if `count` items had been made, three in a moment, by two people in
 * turn, some of them edited, trashed or deleted since.
 */
async function fill(sql: Sql, { table, app, post }: Filled, authors: string[], count: number): Promise<Stored[]> {
  const isDeleted = (i: number) => i % 11 === 5 || (i >= 1_900 && i < 2_100)
  const start = Date.now() - 1_000_000
  const drawn = await sql<{ id: number }[]>`select nextval('numbers') as id from generate_series(1, ${count})`
  const made = drawn.map(({ id }, i) => {
    const createdAt = start + Math.floor(i / 3) * 7
    // Some at the moment at which others were made.
    const updatedAt = i % 13 === 4 ? createdAt + ((i * 7_919) % 3_000) * 7 : createdAt
    return {
      item: { id, author: authors[i % 2]!, isTrashed: i % 7 === 3 || i % 1_000 === 0, createdAt, updatedAt },
      isEdited: i % 13 === 4,
      isDeleted: isDeleted(i),
      block: Math.floor(i / 1_000),
    }
  })
  const kept = made.filter(({ isDeleted }) => !isDeleted)
  const rows = kept.map(({ item, isEdited }) => ({
    id: item.id,
    app_id: app,
    parent_type: post && 'post',
    parent_id: post,
    text: 'x',
    html: '<p>x</p>',
    plain: 'x',
    created_at: new Date(item.createdAt),
    created_by: item.author,
    updated_at: isEdited ? new Date(item.updatedAt) : null,
    trashed_at: item.isTrashed ? new Date() : null,
  }))
  for (let at = 0; at < rows.length; at += 1_000) {
    await sql`insert into ${sql(table)} ${sql(rows.slice(at, at + 1_000))}`
  }
  for (let block = 0; block * 1_000 < count; block++) {
    const own = made.filter(one => one.block === block)
    const trashed = own.filter(({ item, isDeleted }) => item.isTrashed && !isDeleted).length
    const deleted = own.filter(({ isDeleted }) => isDeleted).length
    await sql`
      insert into blocks (app_id, parent_id, first_id, trashed_count, deleted_count)
      values (${app}, ${post ?? 0}, ${own[0]!.item.id}, ${trashed}, ${deleted})`
  }
  const visible = kept.filter(({ item }) => !item.isTrashed)
  if (post !== null) {
    await sql`update posts set made_count = ${count}, comment_count = ${visible.length} where id = ${post}`
  } else {
    await sql`
      update apps set made_count = ${count}, item_count = ${visible.length}, head_at = now(),
        trashed_count = ${kept.length - visible.length}, last_id = ${visible.at(-1)!.item.id}, last_by = ${authors[0]!}
      where id = ${app}`
  }
  return kept.map(({ item }) => item)
}

/** What a list is asked for: where it stands is found in the whole list by hand. */
const question = fc.record({
  isAdmin: fc.boolean(),
  order: fc.constantFrom('id', 'created_at', 'updated_at'),
  isDescending: fc.boolean(),
  isCrossed: fc.boolean(),
  trashed: fc.constantFrom('false', 'true', 'null'),
  skip: fc.oneof(fc.nat(60), fc.nat(5_200)),
  take: fc.integer({ min: 1, max: 100 }),
  around: fc.option(fc.nat(4_500), { nil: undefined, freq: 2 }),
  /** Places in the whole list that posts are to be between. */
  after: fc.option(fc.nat(4_500), { nil: undefined, freq: 2 }),
  before: fc.option(fc.nat(4_500), { nil: undefined, freq: 2 }),
})
type Question = typeof question extends fc.Arbitrary<infer Value> ? Value : never

function toAnswer(all: Stored[], asked: Question, table: Kind, reader: string | null) {
  const idAt = (place: number | undefined) =>
    table === 'posts' && place !== undefined ? all[place % all.length]!.id : undefined
  const seen = all.filter(item => !item.isTrashed || reader === null || item.author === reader)
  return expectedPage(seen, { ...asked, after: idAt(asked.after), before: idAt(asked.before) })
}

async function ask(one: Client, path: string, query: URLSearchParams) {
  const { status, body } = await one.get(`${path}?${query}`)
  return { status, ids: idsOf(body), start: Number(body.start), end: Number(body.end), count: Number(body.count) }
}

const types = { messages: 'chat', posts: 'posts', comments: 'posts' }

test.each(['messages', 'posts', 'comments'] as const)(
  'any page of many %s holds what it should, in each order, however deep, also of the trash and around one',
  async table => {
    await using database = await createDatabase()
    await using first = await startServer({ DATABASE_URL: database.url })
    const [ann, ben] = [await first.person('Ann'), await first.person('Ben')]
    const { body: app } = await ann.post('/api/apps', { type: types[table], members: [ben.id] })
    const { body: post } =
      table === 'comments' ? await ann.post(`/api/apps/${app.id}/posts`, { text: 'post' }) : { body: { id: null } }
    const all = await fill(database.sql, { table, app: app.id, post: post.id }, [ann.id, ben.id], 5_000)
    const path = post.id === null ? `/api/apps/${app.id}/${table}` : `/api/posts/${post.id}/comments`
    await using server = await startServer({ DATABASE_URL: database.url })
    const readers = { admin: server.admin, member: client(server.url, ben.token) }
    const verify = async (asked: Question) => {
      const { query, ...expected } = toAnswer(all, asked, table, asked.isAdmin ? null : String(ben.id))
      const found = await ask(readers[asked.isAdmin ? 'admin' : 'member'], path, query)
      expect(found).toEqual({ status: 200, ...expected, end: expected.start + expected.ids.length })
    }

    await fc.assert(fc.asyncProperty(question, verify), { numRuns: 100 })

    // The same after changes through the API: of the first and last of a block, of the newest and of any.
    const chosen = [0, 1, 2, 3, 897, 898, 899, 900, 1_700, 1_701, 1_702, 2_500, -4, -3, -2, -1].map(at => all.at(at)!)
    for (const [i, item] of chosen.entries()) {
      if (i % 4 === 2) {
        expect((await server.admin.delete(`/api/${table}/${item.id}`)).status).toBe(204)
        all.splice(all.indexOf(item), 1)
      } else if (i % 4 === 3 && !item.isTrashed) {
        for (const text of ['edited', 'edited again']) {
          expect((await server.admin.patch(`/api/${table}/${item.id}`, { text })).status).toBe(200)
        }
        const [row] = await database.sql<{ updated_at: Date }[]>`
          select updated_at from ${database.sql(table)} where id = ${item.id}`
        item.updatedAt = row!.updated_at.getTime()
        item.isTrashed = i % 8 === 3
        if (item.isTrashed) await server.admin.post(`/api/${table}/${item.id}/trash`)
      } else {
        expect(
          (await server.admin.post(`/api/${table}/${item.id}/${item.isTrashed ? 'restore' : 'trash'}`)).status,
        ).toBe(204)
        item.isTrashed = !item.isTrashed
      }
    }
    for (let i = 0; i < 30; i++) {
      const { body } = await readers.member.post(path, { text: `new ${i}` })
      const [row] = await database.sql<{ created_at: Date }[]>`
        select created_at from ${database.sql(table)} where id = ${body.id}`
      const createdAt = row!.created_at.getTime()
      all.push({ id: Number(body.id), author: String(ben.id), isTrashed: false, createdAt, updatedAt: createdAt })
    }
    await fc.assert(fc.asyncProperty(question, verify), { numRuns: 100 })
  },
)

test('a page that is reached by skipping end after end goes over every message once', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const sent = await Promise.all(
    Array.from({ length: 60 }, () => ann.post(`/api/apps/${app}/messages`, { text: 'hi' })),
  )

  const seen: number[] = []
  for (let skip = 0; ;) {
    const { body } = await ann.get(`/api/apps/${app}/messages?order_by=id+desc&skip=${skip}`, {
      'x-weavy-source': 'kit',
    })
    seen.push(...idsOf(body))
    if (body.end >= body.count) break
    skip = body.end
  }

  const ids = sent.map(({ body }) => Number(body.id)).toSorted((a, b) => b - a)
  expect(seen).toEqual(ids)
})

test('messages are found by the words in their plain text and by their tags, in any script', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const texts = [
    'The **plan** is great',
    'plan B, see https://example.com/plan-c',
    'Ça va?',
    '我喜欢咖啡',
    'one_two 3.14',
    `It's 🎉party🎉time, ${'x'.repeat(5000)}`,
  ]
  const ids: number[] = []
  for (const [i, text] of texts.entries()) {
    ids.push(Number((await ann.post(`/api/apps/${app}/messages`, { text, tags: [`tag ${i % 2}`] })).body.id))
  }
  const find = async (query: string) =>
    idsOf((await ann.get(`/api/apps/${app}/messages?${query}`)).body).map(id => ids.indexOf(id))

  expect(await find('q=PLAN')).toEqual([0, 1])
  expect(await find('q=great+plan')).toEqual([0])
  expect(await find('q=example.com')).toEqual([1])
  expect(await find('q=plan-c')).toEqual([1])
  expect(await find('q=ca')).toEqual([2])
  expect(await find(`q=${encodeURIComponent('咖啡')}`)).toEqual([3])
  expect(await find('q=3.14')).toEqual([4])
  expect(await find('q=one_two')).toEqual([4])
  expect(await find("q=it's")).toEqual([5])
  expect(await find(`q=${encodeURIComponent('🎉 time')}`)).toEqual([5])
  expect(await find(`q=${'x'.repeat(150)}`)).toEqual([5])
  expect(await find(`q=${'x'.repeat(150)}y`)).toEqual([])
  expect(await find('q=lan')).toEqual([])
  expect(await find('q=%25')).toEqual([])
  expect(await find('q=strong')).toEqual([])
  expect(await find('tag=tag+1')).toEqual([1, 3, 5])
  expect(await find('tag=tag+1&tag=tag+0&order_by=id+desc&take=2')).toEqual([5, 4])
  expect(await find('tag=Tag+1')).toEqual([1, 3, 5])
  expect(await find('tag=tag+0&q=plan')).toEqual([0])
  expect(idsOf((await server.admin.get('/api/messages?q=PLAN')).body).map(id => ids.indexOf(id))).toEqual([0, 1])
  expect(await find(`q=plan&around=${ids[1]}&take=1`)).toEqual([1])
  expect((await ann.get(`/api/apps/${app}/messages?q=plan&around=${ids[2]}`)).status).toBe(404)
  expect((await ann.get(`/api/apps/${app}/messages?q=plan&count_only=true`)).body).toEqual({ count: '2' })
})

test('an old message that is edited stays in its place, also where only the newest are in memory', async () => {
  await using database = await createDatabase()
  const ids: number[] = []
  const { app, token } = await (async () => {
    await using before = await startServer({ DATABASE_URL: database.url })
    const { app, people } = await before.chatWith(1)
    for (let i = 0; i < 150; i++) {
      ids.unshift(Number((await people[0].post(`/api/apps/${app}/messages`, { text: 'hello' })).body.id))
    }
    return { app, token: people[0].token }
  })()
  await using server = await startServer({ DATABASE_URL: database.url })
  const ann = client(server.url, token)
  await ann.get(`/api/apps/${app}/messages`)

  await ann.patch(`/api/messages/${ids.at(-1)}`, { text: 'edited' })

  const page = await ann.get(`/api/apps/${app}/messages?order_by=id+desc&skip=76&take=25`)
  expect(idsOf(page.body)).toEqual(ids.slice(76, 101))
})

test('lists are sorted by time of writing and editing too', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const ids: number[] = []
  for (const text of ['a', 'b', 'c']) ids.push(Number((await ann.post(`/api/apps/${app}/messages`, { text })).body.id))
  await ann.patch(`/api/messages/${ids[0]}`, { text: 'edited' })
  const order = async (order_by: string) =>
    idsOf((await ann.get(`/api/apps/${app}/messages?order_by=${order_by}`)).body).map(id => ids.indexOf(id))

  expect(await order('updated_at+desc')).toEqual([0, 2, 1])
  expect(await order('updated_at')).toEqual([1, 2, 0])
  expect(await order('created_at+desc,id')).toEqual([2, 1, 0])
  expect(await order('id,created_at+desc')).toEqual([0, 1, 2])
  for (const path of [`/api/apps/${app}/messages`, '/api/messages']) {
    for (const query of ['order_by=text', 'order_by=;drop', 'take=0', 'skip=-1', 'out=all', 'trashed=maybe']) {
      const { status, body } = await ann.get(`${path}?${query}`)
      expect([query, status, Object.keys(body.errors)]).toEqual([query, 422, [query.split('=')[0]]])
    }
  }
})
