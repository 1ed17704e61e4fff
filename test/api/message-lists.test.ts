import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Sql } from '../../src/storage/sql.ts'
import type { Body, Client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

const idsOf = (body: Body): number[] => (body.data ?? []).map((item: Body) => Number(item.id))

interface Stored {
  id: number
  isTrashed: boolean
}

/** Fills a chat that nobody has used yet: as if `count` messages had been sent, some trashed, some deleted since. */
async function fill(sql: Sql, app: string, author: string, count: number): Promise<Stored[]> {
  const isDeleted = (i: number) => i % 11 === 5 || (i >= 1_900 && i < 2_100)
  const isTrashed = (i: number) => i % 7 === 3 || i % 1_000 === 0
  const drawn = await sql<{ id: number }[]>`select nextval('numbers') as id from generate_series(1, ${count})`
  const made = drawn.map(({ id }, i) => ({
    id,
    isTrashed: isTrashed(i),
    isDeleted: isDeleted(i),
    block: Math.floor(i / 1_000),
  }))
  const kept = made.filter(item => !item.isDeleted)
  const binned = kept.filter(item => item.isTrashed).map(({ id }) => id)
  await sql`
    insert into messages (id, app_id, text, html, plain, created_at, created_by, trashed_at)
    select id, ${app}, 'x', '<p>x</p>', 'x', now(), ${author}, case when id = any(${binned}::bigint[]) then now() end
    from unnest(${kept.map(({ id }) => id)}::bigint[]) as m(id)`
  for (let block = 0; block * 1_000 < count; block++) {
    const own = made.filter(item => item.block === block)
    const trashed = own.filter(item => item.isTrashed && !item.isDeleted).length
    const deleted = own.filter(item => item.isDeleted).length
    await sql`insert into blocks values (${app}, ${own[0]!.id}, ${trashed}, ${deleted})`
  }
  const visible = kept.filter(item => !item.isTrashed)
  await sql`
    update apps set made_count = ${count}, item_count = ${visible.length}, trashed_count = ${kept.length - visible.length},
      last_id = ${visible.at(-1)!.id}, last_by = ${author}
    where id = ${app}`
  return kept
}

/** What a list is asked for: where it stands is found in the whole list by hand. */
const question = fc.record({
  isDescending: fc.boolean(),
  trashed: fc.constantFrom('false', 'true', 'null'),
  skip: fc.oneof(fc.nat(60), fc.nat(5_200)),
  take: fc.integer({ min: 1, max: 100 }),
  around: fc.option(fc.nat(4_500), { nil: undefined }),
})
type Question = typeof question extends fc.Arbitrary<infer Value> ? Value : never

function answer(all: Stored[], { isDescending, trashed, skip, take, around }: Question) {
  const shown = all.filter(item => trashed === 'null' || item.isTrashed === (trashed === 'true')).map(({ id }) => id)
  if (isDescending) shown.reverse()
  const middle = around === undefined ? undefined : shown[around % shown.length]
  const start =
    middle === undefined
      ? skip
      : Math.max(0, Math.min(shown.indexOf(middle) - Math.floor(take / 2), shown.length - take))
  return { ids: shown.slice(start, start + take), start, count: shown.length, middle }
}

async function ask(one: Client, app: string, asked: Question, middle: number | undefined) {
  const query = new URLSearchParams({
    order_by: asked.isDescending ? 'id desc' : 'id',
    trashed: asked.trashed,
    skip: String(asked.skip),
    take: String(asked.take),
    ...(middle !== undefined && { around: String(middle) }),
  })
  const { status, body } = await one.get(`/api/apps/${app}/messages?${query}`)
  return { status, ids: idsOf(body), start: Number(body.start), end: Number(body.end), count: Number(body.count) }
}

test('any page of a long chat holds what it should, however deep, also of the trash and around a message', async () => {
  await using database = await createDatabase()
  await using first = await startServer({ DATABASE_URL: database.url })
  const ann = await first.person('Ann')
  const { body: app } = await ann.post('/api/apps', { type: 'chat' })
  const all = await fill(database.sql, app.id, ann.id, 5_000)
  await using server = await startServer({ DATABASE_URL: database.url })
  const reader = { ...server.admin }
  const verify = async (asked: Question) => {
    const { middle, ...expected } = answer(all, asked)
    const found = await ask(reader, app.id, asked, middle)
    expect(found).toEqual({ status: 200, ...expected, end: expected.start + expected.ids.length })
  }

  await fc.assert(fc.asyncProperty(question, verify), { numRuns: 150 })

  // The same after changes through the API: of the first and last of a block, of the newest and of any.
  const chosen = [0, 1, 2, 897, 898, 899, 1_700, 1_701, 2_500, -3, -2, -1].map(at => all.at(at)!)
  for (const [i, item] of chosen.entries()) {
    if (i % 3 === 2) {
      expect((await reader.delete(`/api/messages/${item.id}`)).status).toBe(204)
      all.splice(all.indexOf(item), 1)
    } else {
      expect((await reader.post(`/api/messages/${item.id}/${item.isTrashed ? 'restore' : 'trash'}`)).status).toBe(204)
      item.isTrashed = !item.isTrashed
    }
  }
  for (let i = 0; i < 30; i++) {
    const { body } = await reader.post(`/api/apps/${app.id}/messages`, { text: `new ${i}` })
    all.push({ id: Number(body.id), isTrashed: false })
  }
  await fc.assert(fc.asyncProperty(question, verify), { numRuns: 150 })
})

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
  expect(await find('tag=Tag+1')).toEqual([])
  expect(await find('tag=tag+0&q=plan')).toEqual([0])
  expect(idsOf((await server.admin.get('/api/messages?q=PLAN')).body).map(id => ids.indexOf(id))).toEqual([0, 1])
  expect(await find(`q=plan&around=${ids[1]}&take=1`)).toEqual([1])
  expect((await ann.get(`/api/apps/${app}/messages?q=plan&around=${ids[2]}`)).status).toBe(404)
  expect((await ann.get(`/api/apps/${app}/messages?q=plan&count_only=true`)).body).toEqual({ count: '2' })
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
