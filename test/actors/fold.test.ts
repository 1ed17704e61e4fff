import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withBodies } from '../../src/actors/catch-up.ts'
import { fold, type EventType } from '../../src/actors/event.ts'
import { Recent, recentLimit } from '../../src/actors/recent.ts'
import { AppState, findApp, listMembers } from '../../src/actors/state.ts'
import { resources } from '../../src/resources/index.ts'
import { message } from '../../src/resources/messages/kind.ts'
import { listEvents } from '../../src/storage/events.ts'
import type { Sql } from '../../src/storage/sql.ts'
import type { Client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { startServer, type Person } from '../support/server.ts'

const types = new Map<string, EventType<unknown>>(
  resources.flatMap(({ events = [] }) => events.map(event => [event.type, event] as const)),
)

const people = 3

/** One thing that somebody does in a room; `who` and `which` are taken modulo what there is. */
const step = fc.record({
  who: fc.nat(people - 1),
  which: fc.nat(50),
  what: fc.constantFrom(
    'send',
    'send',
    'send',
    'edit',
    'trash',
    'restore',
    'delete',
    'mark',
    'unmark',
    'pin',
    'archive',
    'leave',
    'rename',
  ),
})

interface Step {
  who: number
  which: number
  what: string
}

interface Room {
  app: string
  crowd: Person[]
  sent: string[]
}

async function act({ app, crowd, sent }: Room, { who, which, what }: Step, admin: Client): Promise<void> {
  const person = crowd[who]!
  const target = sent[which % Math.max(1, sent.length)]
  switch (what) {
    case 'send': {
      const { status, body } = await person.post(`/api/apps/${app}/messages`, { text: `message ${sent.length}` })
      if (status === 201) sent.push(body.id)
      return
    }
    case 'edit':
      return void (await person.patch(`/api/messages/${target}`, { text: 'edited' }))
    case 'trash':
    case 'restore':
      return void (await person.post(`/api/messages/${target}/${what}`))
    case 'delete':
      return void (await person.delete(`/api/messages/${target}`))
    case 'mark':
      return void (await person.put(`/api/apps/${app}/mark?message_id=${target}`))
    case 'unmark':
      return void (await person.delete(`/api/apps/${app}/mark`))
    case 'pin':
    case 'archive':
      return void (await person.put(`/api/apps/${app}/${what}`))
    case 'rename':
      return void (await person.patch(`/api/apps/${app}`, { name: `name ${which}` }))
    case 'leave':
      await person.delete(`/api/apps/${app}/members/${person.id}`)
      return void (await admin.put(`/api/apps/${app}/members/${person.id}`, { access: 'write' }))
  }
}

async function load(sql: Sql, app: number): Promise<AppState> {
  const items = await message.store.listRecent(sql, app, recentLimit)
  return new AppState((await findApp(sql, app))!, await listMembers(sql, app), new Recent(items.reverse(), true))
}

const picture = (state: AppState) => ({ app: state.app, members: [...state.members()], items: state.recent.items })

test('whatever people do, a state moved over the events is the state that the database holds', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async steps => {
      const { app, people: crowd } = await server.chatWith(people)
      const id = Number(app)
      const state = await load(database.sql, id)
      const room = { app, crowd, sent: [] }
      for (const one of steps) await act(room, one, server.admin)

      const missed = await listEvents(database.sql, id, state.app.head_rev, 1_000)
      for (const event of await withBodies(database.sql, missed, types)) fold(state, event)

      const fresh = await load(database.sql, id)
      expect(picture(state)).toEqual(picture(fresh))
      const [counted] = await database.sql`
        select count(*) filter (where trashed_at is null) as item_count,
          count(*) filter (where trashed_at is not null) as trashed_count, max(id) filter (where trashed_at is null) as last_id
        from messages where app_id = ${id}`
      expect(fresh.app).toMatchObject(counted!)
    }),
    { numRuns: 15 },
  )
})
