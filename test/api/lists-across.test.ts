import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Sql } from '../../src/postgres/sql.ts'
import { client } from '../support/client.ts'
import { appOf, create, idsIn } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { expectedPage, type ListedItem } from '../support/expected-page.ts'
import { allFollowed } from '../support/followed.ts'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

interface Stored extends ListedItem {
  app: number
  author: number
}

type Table = 'messages' | 'posts'

/** Fills apps that nobody has used yet, some at once and some one after the other, by two people. */
async function fill(sql: Sql, table: Table, apps: number[], authors: number[]): Promise<Stored[]> {
  const count = 8_000
  const drawn = await sql<{ id: number }[]>`select nextval('numbers') as id from generate_series(1, ${count})`
  const [large, late, small, other] = apps
  const start = Date.now() - 10_000_000
  const made = drawn.map(({ id }, i) => {
    const app = i < 3_000 && i % 50 === 0 ? small! : i % 3 === 0 ? other! : i > 4_000 && i % 2 === 0 ? late! : large!
    // Clocks of apps differ; each goes forwards.
    const createdAt = start + i * 10 + apps.indexOf(app) * 3_000
    const updatedAt = i % 17 === 4 ? createdAt + ((i * 7_919) % 4_000) * 10 : createdAt
    const item = { id, app, author: authors[i % 2]!, isTrashed: i % 7 === 3, createdAt, updatedAt }
    return { item, isDeleted: i % 11 === 5 }
  })
  const kept = made.filter(({ isDeleted }) => !isDeleted).map(({ item }) => item)
  const rows = kept.map(({ id, app, author, isTrashed, createdAt, updatedAt }) => ({
    id,
    app_id: app,
    text: 'x',
    html: '<p>x</p>',
    plain: 'x',
    created_at: new Date(createdAt),
    created_by: author,
    updated_at: updatedAt === createdAt ? null : new Date(updatedAt),
    trashed_at: isTrashed ? new Date() : null,
  }))
  for (let at = 0; at < rows.length; at += 1_000)
    await sql`insert into ${sql(table)} ${sql(rows.slice(at, at + 1_000))}`
  for (const app of apps) {
    const own = made.filter(({ item }) => item.app === app)
    for (let at = 0; at < own.length; at += 1_000) {
      const block = own.slice(at, at + 1_000)
      await sql`
        insert into blocks (app_id, first_id, trashed_count, deleted_count)
        values (${app}, ${block[0]!.item.id}, ${block.filter(one => one.item.isTrashed && !one.isDeleted).length},
          ${block.filter(one => one.isDeleted).length})`
    }
    const visible = own.filter(one => !one.isDeleted && !one.item.isTrashed)
    await sql`
      update apps set made_count = ${own.length}, item_count = ${visible.length},
        trashed_count = ${own.filter(one => !one.isDeleted && one.item.isTrashed).length},
        last_id = ${visible.at(-1)!.item.id}, last_by = ${authors[0]!}
      where id = ${app}`
  }
  return kept
}

const question = fc.record({
  isAdmin: fc.boolean(),
  order: fc.constantFrom('id', 'id', 'created_at', 'updated_at'),
  isDescending: fc.boolean(),
  trashed: fc.constantFrom('false', 'false', 'true', 'null'),
  skip: fc.oneof(fc.nat(60), fc.nat(8_000)),
  take: fc.integer({ min: 1, max: 100 }),
  around: fc.option(fc.nat(8_000), { nil: undefined, freq: 2 }),
  /** Places in the whole list that posts are to be between. */
  after: fc.option(fc.nat(8_000), { nil: undefined, freq: 2 }),
  before: fc.option(fc.nat(8_000), { nil: undefined, freq: 2 }),
})
type Question = typeof question extends fc.Arbitrary<infer Value> ? Value : never

test.each(['messages', 'posts'] as const)(
  'any page of %s of several apps holds what it should, in each order, however deep, and around one',
  async table => {
    await using database = await createDatabase()
    await using first = await startServer({ DATABASE_URL: database.url })
    const [ann, ben] = [await first.person('Ann'), await first.person('Ben')]
    const apps: number[] = []
    for (let i = 0; i < 4; i++)
      apps.push(Number(await appOf(first, table === 'messages' ? 'chat_room' : 'posts', i < 3 ? [ann, ben] : [ann])))
    const all = await fill(database.sql, table, apps, [Number(ann.id), Number(ben.id)])
    await using server = await startServer({ DATABASE_URL: database.url })
    const verify = async ({ isAdmin, ...asked }: Question) => {
      const idAt = (place: number | undefined) =>
        table === 'posts' && place !== undefined ? all[place % all.length]!.id : undefined
      const seen = all.filter(
        ({ app, author, isTrashed }) => isAdmin || (app !== apps[3] && (!isTrashed || author === Number(ben.id))),
      )
      const range = { after: idAt(asked.after), before: idAt(asked.before) }
      const { query, ...expected } = expectedPage(seen, { ...asked, ...range })

      const answer = await (isAdmin ? server.admin : client(server.url, ben.token)).get(`/api/${table}?${query}`)

      const found = {
        start: Number(answer.body.start),
        count: Number(answer.body.count),
        ids: idsIn(answer).map(Number),
      }
      expect(found).toEqual(expected)
    }

    await fc.assert(fc.asyncProperty(question, verify), { numRuns: 150 })
  },
)

test('a list is restricted to a hundred apps at most, each named as often and in whatever form', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const { body: blob } = await upload(ann, { name: 'a.txt', content: 'a' })
  const feed = await appOf(server, 'posts', [ann], { uid: 'Feed' })
  const folder = await appOf(server, 'files', [ann], { uid: 'Folder' })
  const post = await create(ann, `/api/apps/${feed}/posts`, { text: 'A post' })
  const file = await create(ann, `/api/apps/${folder}/files`, { blob_id: blob.id })
  const given = [feed, 'feed', 'FEED', folder, 'folder', 'Folder', 'nowhere', '9'.repeat(40), '999999']
  const apps = Array.from({ length: 100 }, (_, i) => `app=${given[i % given.length]}`)

  for (const who of [ann, server.admin]) {
    expect(idsIn(await who.get(`/api/posts?${apps.join('&')}`))).toEqual([post.id])
    expect(idsIn(await who.get(`/api/files?${apps.join('&')}`))).toEqual([file.id])
  }
  for (const list of ['posts', 'files']) {
    const { status, body } = await ann.get(`/api/${list}?${apps.join('&')}&app=one-more`)
    expect([status, Object.keys(body.errors)]).toEqual([422, ['app']])
  }
})

test.each(['posts', 'files'])(
  'where the database fails to say which apps are meant, no %s are taken for none',
  async list => {
    await using database = await createDatabase()
    const { sql } = database
    await using server = await startServer({ DATABASE_URL: database.url })
    const locking = await sql.reserve()
    await locking`begin`
    await locking`lock table apps in access exclusive mode`

    const asking = server.admin.get(`/api/${list}?app=some`)
    await eventually(async () => {
      const ended = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%fold_name(uid)%'`
      expect(ended).toHaveLength(1)
    })
    await locking`commit`
    locking.release()

    expect((await asking).status).toBe(503)
  },
)

test('an app that is deleted while files are listed takes its own from the list, and no others', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await using server = await startServer({ DATABASE_URL: database.url })
  const ann = await server.person('Ann')
  const [kept, gone] = [await appOf(server, 'files', [ann]), await appOf(server, 'files', [ann])]
  const files: string[] = []
  for (const app of [kept, gone]) {
    const { body: blob } = await upload(ann, { name: 'a.txt', content: 'a' })
    files.push((await create(ann, `/api/apps/${app}/files`, { blob_id: blob.id })).id)
  }
  // What follows from the commits asks for the files as well, so it is done before the list waits for them.
  await allFollowed(sql)
  // A node that has yet to read these apps.
  await using other = await startServer({ DATABASE_URL: database.url })
  const locking = await sql.reserve()
  await locking`begin`
  await locking`lock table blobs in access exclusive mode`

  const listing = client(other.url, ann.token).get('/api/files')
  await eventually(async () => {
    const waiting = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%from files f%'`
    expect(waiting).toHaveLength(1)
  })
  await locking`update apps set deleted_at = now() where id = ${gone}`
  await locking`commit`
  locking.release()

  const answer = await listing
  expect([answer.status, idsIn(answer)]).toEqual([200, [files[0]]])
})
