import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyMissed, withBodies } from '../../src/engine/catch-up.ts'
import { Recent, recentLimit } from '../../src/engine/recent.ts'
import { AppState } from '../../src/engine/state.ts'
import { findApp, listMembers } from '../../src/engine/store.ts'
import { eventTypes, recent } from '../../src/resources/index.ts'
import { listEvents } from '../../src/log/events.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import type { Client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { startServer, type Person } from '../support/server.ts'

const people = 3

const usual = ['write', 'comment', 'react', 'vote', 'star']

/** Adding, changing and removing what hangs on content; `which` is taken modulo what there is. */
const step = fc.record({
  who: fc.nat(people - 1),
  which: fc.nat(11),
  what: fc.constantFrom(...usual, ...usual, 'unreact', 'unstar', 'edit', 'trash', 'restore', 'delete', 'repoll'),
})

interface Step {
  who: number
  which: number
  what: string
}

/** An app in which people write, and everything that they wrote there, as paths below /api. */
interface Place {
  app: string
  /** What is written directly in it. */
  items: 'messages' | 'posts' | 'comments'
  crowd: Person[]
  written: string[]
}

const emoji = ['👍', '🎉', '❤️']

async function act({ app, items, crowd, written }: Place, { who, which, what }: Step, admin: Client): Promise<void> {
  const person = crowd[who]!
  const target = written[which % Math.max(1, written.length)] ?? `${items}/0`
  const content = { text: `text ${which}`, options: which % 2 === 0 ? [{ text: 'A' }, { text: 'B' }] : [] }
  const write = async (path: string, kind: string) => {
    const { status, body } = await person.post(path, content)
    if (status === 201) written.push(`${kind}/${body.id}`)
  }
  switch (what) {
    case 'write':
      return write(`/api/apps/${app}/${items}`, items)
    case 'comment':
      return write(`/api/${target}/comments`, 'comments')
    case 'react':
      return void (await person.post(`/api/${target}/reactions`, { content: emoji[which % emoji.length] }))
    case 'unreact':
      return void (await person.delete(`/api/${target}/reactions`))
    case 'star':
      return void (await person.post(`/api/${target}/stars`))
    case 'unstar':
      return void (await person.delete(`/api/${target}/stars`))
    case 'edit':
      return void (await person.patch(`/api/${target}`, { text: 'edited' }))
    case 'trash':
    case 'restore':
      return void (await person.post(`/api/${target}/${what}`))
    case 'delete':
      return void (await person.delete(`/api/${target}`))
    case 'vote':
    case 'repoll': {
      const { body } = await person.get(`/api/${target}/options`)
      const options = body.data ?? []
      const one = options[which % Math.max(1, options.length)]
      if (one === undefined) return
      if (what === 'vote') return void (await person.post(`/api/options/${one.id}/vote`))
      return void (await admin.patch(`/api/${target}`, { options: [{ text: 'C' }, { id: one.id, text: 'kept' }] }))
    }
  }
}

async function load(sql: Sql, app: number): Promise<AppState> {
  const row = (await findApp(sql, app))!
  const items = await recent(sql, row, recentLimit)
  return new AppState(row, await listMembers(sql, app), new Recent(items.reverse(), true))
}

const picture = (state: AppState) => ({ app: state.app, members: [...state.members()], items: state.recent.items })

/** Items whose counts are not what can be counted. */
const listMiscounted = (sql: Sql, table: string) => sql`
  select t.id from ${sql(table)} t
  where t.reaction_count <> (select count(*) from reactions r where r.item_id = t.id)
    or t.star_count <> (select count(*) from stars s where s.entity_id = t.id)
    or t.option_count <> (select count(*) from options o where o.item_id = t.id)
    or t.comment_count <> (select count(*) from comments c where c.parent_id = t.id and c.trashed_at is null)`

/** Options whose votes are not what can be counted, and what hangs on nothing. */
const listLoose = (sql: Sql) => sql`
  with items as (select id from messages union all select id from posts union all select id from comments)
  select id from options o where vote_count <> (select count(*) from votes v where v.option_id = o.id)
  union all select option_id from votes where option_id not in (select id from options)
  union all select item_id from options where item_id not in (select id from items)
  union all select item_id from reactions where item_id not in (select id from items)
  union all select entity_id from stars where entity_id not in (select id from items)`

test('whatever hangs on content, events lead to what the database holds, and counts are what can be counted', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const crowd = await Promise.all(Array.from({ length: people }, () => server.person()))
  const members = crowd.map(({ id }) => id)
  const kinds = [
    ['chat_room', 'messages'],
    ['posts', 'posts'],
    ['comments', 'comments'],
  ] as const

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 90 }), fc.nat(2), async (steps, kind) => {
      const [type, items] = kinds[kind]!
      const { body } = await server.admin.post('/api/apps', { type, members })
      const id = Number(body.id)
      const state = await load(database.sql, id)
      const place: Place = { app: body.id, items, crowd, written: [] }
      for (const one of steps) await act(place, one, server.admin)

      const missed = await listEvents(database.sql, id, state.app.head_rev, 1_000)
      applyMissed(state, { events: await withBodies(database.sql, missed, eventTypes) })

      expect(picture(state)).toEqual(picture(await load(database.sql, id)))
      const listed = await server.admin.get(`/api/apps/${place.app}/${items}?out=details`)
      const stored = await server.admin.get(`/api/apps/${place.app}/${items}?out=details&order_by=created_at,id`)
      expect(listed.body.data?.toSorted(byId)).toEqual(stored.body.data?.toSorted(byId))
      for (const table of ['messages', 'posts', 'comments']) {
        expect(await listMiscounted(database.sql, table)).toEqual([])
      }
    }),
    { numRuns: 15 },
  )

  await expect.poll(() => listLoose(database.sql), { timeout: 10_000 }).toEqual([])
})

const byId = (a: { id: string }, b: { id: string }) => Number(a.id) - Number(b.id)
