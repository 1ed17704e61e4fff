import { afterAll, beforeAll, expect, test } from 'vitest'
import { listStars } from '../../src/resources/stars/pages.ts'
import { createDatabase, type Database } from '../support/database.ts'

/** Where things are: a chat of which the first half is hidden from whoever looks, a feed, and a chat that is not theirs. */
const [chat, feed, elsewhere] = [1, 2, 3]
const hiddenId = 1_000_250
const apps = [
  { id: chat, hidden_id: hiddenId },
  { id: feed, hidden_id: null },
]

interface Thing {
  id: number
  type: 'message' | 'post' | 'comment' | 'file'
  app: number
  isTrashed: boolean
  parent: Thing | null
}

/** Messages, posts, comments on every post, and attachments of all of them; of each kind, some are in the trash. */
const things: Thing[] = []
for (let i = 0; i < 500; i++) {
  const add = (line: number, type: Thing['type'], app: number, parent: Thing | null) => {
    const isTrashed = (i + line) % (7 + line) === 0 && (type !== 'file' || parent === null)
    const thing = { id: line * 1_000_000 + i, type, app, isTrashed, parent }
    things.push(thing)
    return thing
  }
  const message = add(1, 'message', i % 10 === 9 ? elsewhere : chat, null)
  const post = add(2, 'post', feed, null)
  const comment = add(3, 'comment', feed, post)
  add(4, 'file', feed, null)
  add(5, 'file', message.app, message)
  add(6, 'file', feed, comment)
}

/** Whoever starred everything, and whoever starred a bit of it. */
const stars: Record<string, (thing: Thing) => boolean> = { 1: () => true, 2: ({ id }) => id % 3 === 0 }

function isSeen({ app, isTrashed, parent, ...thing }: Thing): boolean {
  const id = parent?.type === 'message' ? parent.id : thing.id
  if (app === elsewhere || (app === chat && id <= hiddenId)) return false
  return !isTrashed && (parent === null || isSeen(parent))
}

const second = (id: number) => (id * 7_919) % 1_000

let database: Database

beforeAll(async () => {
  database = await createDatabase()
  const { sql } = database
  const at = (id: number) => new Date(Date.UTC(2026, 0, 1) + second(id) * 1_000)
  for (const type of ['message', 'post', 'comment', 'file'] as const) {
    const rows = things
      .filter(thing => thing.type === type)
      .map(({ id, app, isTrashed, parent }) => ({
        id,
        app_id: app,
        parent_type: parent?.type ?? null,
        parent_id: parent?.id ?? null,
        star_count: 1,
        created_at: at(id),
        created_by: 1,
        trashed_at: isTrashed ? at(id) : null,
        ...(type === 'file' && { rev: id, name: `${id}`, size: 1 }),
      }))
    for (let i = 0; i < rows.length; i += 1_000)
      await sql`insert into ${sql(`${type}s`)} ${sql(rows.slice(i, i + 1_000))}`
  }
  for (const [user, isStarred] of Object.entries(stars)) {
    const rows = things.filter(isStarred).map(({ id, type, app }) => ({
      user_id: Number(user),
      entity_id: id,
      entity_type: type,
      app_id: app,
      created_at: at(id),
    }))
    for (let i = 0; i < rows.length; i += 1_000) await sql`insert into stars ${sql(rows.slice(i, i + 1_000))}`
    await sql`
      insert into members (app_id, user_id, access, starred_at)
      values (${feed}, ${user}, 'read', ${at(500)}), (${elsewhere}, ${user}, null, ${at(500)})`
  }
})
afterAll(() => database[Symbol.asyncDispose]())

test.each(Object.keys(stars))(
  'stars that are not seen are left out, however many there are (of user %s)',
  async user => {
    const seen = [{ id: feed, type: 'app', time: second(500) }]
    for (const thing of things) {
      if (stars[user]!(thing) && isSeen(thing)) seen.push({ id: thing.id, type: thing.type, time: second(thing.id) })
    }
    const expected = seen.toSorted((a, b) => b.time - a.time || b.id - a.id).map(({ id, type }) => ({ id, type }))
    const sight = { user: Number(user), apps }

    for (const skip of [0, 100, Math.floor(expected.length / 2), expected.length - 10, expected.length]) {
      const { stars: found, count } = await listStars(database.sql, sight, { skip, take: 25, countOnly: false })
      expect([count, found], `from ${skip}`).toEqual([expected.length, expected.slice(skip, skip + 25)])
    }
  },
)
