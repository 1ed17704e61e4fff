import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Principal } from '../../src/auth/principal.ts'
import { Problem } from '../../src/lib/errors.ts'
import { restoreApp, trashApp, updateApp } from '../../src/resources/apps/commands.ts'
import { putMembers, removeMembers } from '../../src/resources/apps/members/commands.ts'
import { markRead, markUnread } from '../../src/resources/apps/own/mark.ts'
import { changeSettings } from '../../src/resources/apps/own/settings.ts'
import { messageCommands } from '../../src/resources/messages/kind.ts'
import { openActors, type Actors } from '../support/actors.ts'
import { openRooms, send, system } from '../support/rooms.ts'

const people = 3

/** One command of a history: who gives it, to which of two nodes, and what it names. */
const Step = fc.record({
  node: fc.nat({ max: 1 }),
  by: fc.nat({ max: people }),
  at: fc.nat({ max: 20 }),
  what: fc.oneof(
    { weight: 6, arbitrary: fc.constant('send' as const) },
    { weight: 2, arbitrary: fc.constantFrom('mark' as const, 'unmark' as const) },
    { weight: 3, arbitrary: fc.constantFrom('edit' as const, 'trash' as const, 'restore' as const, 'delete' as const) },
    { weight: 3, arbitrary: fc.constantFrom('admit' as const, 'dismiss' as const, 'readOnly' as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('rename' as const, 'trashApp' as const, 'restoreApp' as const, 'archive' as const),
    },
  ),
})
type Step = typeof Step extends fc.Arbitrary<infer Value> ? Value : never

/** Two nodes that hear nothing of each other, and a room of a few people. */
async function openRoom() {
  const database = await openRooms(1)
  const { sql, rooms } = database
  const users = await sql<{ id: number }[]>`
    insert into users (uid, display_name, created_at)
    select 'u-' || n, 'Person ' || n, now() from generate_series(1, ${people}::int) n returning id`
  const nodes = [await openActors(database.url), await openActors(database.url)] as const
  return {
    sql,
    app: rooms[0]!,
    users: users.map(({ id }) => id),
    nodes,
    async [Symbol.asyncDispose]() {
      for (const part of [...nodes, database]) await part[Symbol.asyncDispose]()
    },
  }
}
type Room = Awaited<ReturnType<typeof openRoom>>

/** Runs a step, and returns its outcome: how it was refused, or that it was not. */
async function run({ apps }: Actors, { app, users }: Room, step: Step, sent: number[]): Promise<string> {
  const user = users[step.by]
  const by: Principal = user === undefined ? system : { kind: 'user', user, credential: '' }
  const other = users[step.at % people]!
  const id = sent[step.at % Math.max(sent.length, 1)] ?? 0
  const change = { id, fields: { metadata: { at: step.at } }, parts: null }
  const all: Record<Step['what'], () => Promise<unknown>> = {
    send: async () => sent.push((await send(apps, app, { by, text: `message ${sent.length}` })).id),
    mark: () => apps.run(markRead, app, by, null),
    unmark: () => apps.run(markUnread, app, by, undefined),
    edit: () => apps.run(messageCommands.update, app, by, change),
    trash: () => apps.run(messageCommands.trash, app, by, { id }),
    restore: () => apps.run(messageCommands.restore, app, by, { id }),
    delete: () => apps.run(messageCommands.remove, app, by, { id }),
    admit: () => apps.run(putMembers, app, system, [{ user: other, access: 'write' }]),
    readOnly: () => apps.run(putMembers, app, system, [{ user: other, access: 'read' }]),
    dismiss: () => apps.run(removeMembers, app, system, [other]),
    rename: () => apps.run(updateApp, app, by, { name: `name ${step.at}` }),
    trashApp: () => apps.run(trashApp, app, system, undefined),
    restoreApp: () => apps.run(restoreApp, app, system, undefined),
    archive: () => apps.run(changeSettings, app, by, { isArchived: step.at % 2 === 0 }),
  }
  try {
    await all[step.what]()
    return 'done'
  } catch (error) {
    if (error instanceof Problem) return `${error.status} ${error.code}`
    throw error
  }
}

/** What a history has left, with ids and revs by their rank, as each run draws others. */
async function whatIsLeft({ sql, app, users }: Room) {
  const rank = (id: number | null) => id && users.indexOf(id)
  const events = await sql<{ type: string; actor_id: number; rev: number; prev: number; entity_id: number }[]>`
    select type, actor_id, rev, prev, entity_id from events where app_id = ${app} order by rev`
  expect(events.map(({ prev }) => prev)).toEqual(
    [1, ...events.slice(0, -1).map(({ rev }) => rev)].slice(0, events.length),
  )
  const items = await sql<{ id: number; text: string; created_by: number; trashed: boolean }[]>`
    select id, text, created_by, trashed_at is not null as trashed, metadata from messages where app_id = ${app} order by id`
  const place = (id: number | null) => id && items.findIndex(item => item.id === id)
  const members = await sql<{ user_id: number; access: string; marked_id: number | null; archived: boolean }[]>`
    select user_id, access, marked_id, marked_at is not null as marked, archived_id is not null as archived
    from members where app_id = ${app} order by user_id`
  const [row] = await sql<{ name: string; last_id: number; last_by: number; prior_id: number; rev: number }[]>`
    select name, item_count, trashed_count, made_count, last_id, last_by, prior_id, rev, trashed_at is not null as trashed
    from apps where id = ${app}`
  return {
    events: events.map(({ type, actor_id }) => [type, rank(actor_id)]),
    items: items.map(({ id: _, created_by, ...item }) => ({ ...item, by: rank(created_by) })),
    members: members.map(({ user_id, marked_id, ...row }) => ({
      ...row,
      user: rank(user_id),
      marked: place(marked_id),
    })),
    app: {
      ...row,
      last_id: place(row!.last_id),
      last_by: rank(row!.last_by),
      prior_id: place(row!.prior_id),
      rev: events.findIndex(({ rev }) => rev === row!.rev),
    },
  }
}

test('which node runs a command makes no difference, although none knows what the other does', async () => {
  await using alone = await openRoom()
  await using shared = await openRoom()
  await fc.assert(
    fc.asyncProperty(fc.array(Step, { minLength: 10, maxLength: 40 }), async steps => {
      const outcomes: Record<string, unknown> = {}
      for (const [name, room] of Object.entries({ alone, shared })) {
        const [{ id }] = await room.sql<[{ id: number }]>`
          insert into apps (type, rev, head_rev, created_at, created_by) values ('chat_room', 1, 1, now(), 0) returning id`
        const here = { ...room, app: id }
        const sent: number[] = []
        const results: string[] = []
        for (const step of steps)
          results.push(await run(room.nodes[name === 'alone' ? 0 : step.node]!, here, step, sent))
        outcomes[name] = { results, ...(await whatIsLeft(here)) }
      }

      expect(outcomes.shared).toEqual(outcomes.alone)
    }),
    { numRuns: 20, endOnFailure: true },
  )
})

test('commands of two nodes at once leave an app that is the sum of its events', async () => {
  await using room = await openRoom()
  await fc.assert(
    fc.asyncProperty(fc.array(Step, { minLength: 10, maxLength: 40 }), async steps => {
      const [{ id: app }] = await room.sql<[{ id: number }]>`
        insert into apps (type, rev, head_rev, created_at, created_by) values ('chat_room', 1, 1, now(), 0) returning id`
      const here = { ...room, app }
      const sent: number[] = []

      await Promise.all(steps.map(step => run(room.nodes[step.node]!, here, step, sent)))

      const { app: row } = await whatIsLeft(here)
      const [counted] = await room.sql`
        select count(*) filter (where trashed_at is null)::int as item_count,
          count(*) filter (where trashed_at is not null)::int as trashed_count
        from messages where app_id = ${app}`
      expect(row).toMatchObject({ ...counted!, made_count: sent.length })
      const newest = await room.sql<{ id: number; created_by: number }[]>`
        select id, created_by from messages where app_id = ${app} and trashed_at is null order by id desc`
      const [last] = newest
      const [kept] = await room.sql`select last_id, last_by, prior_id from apps where id = ${app}`
      expect(kept).toEqual({
        last_id: last?.id ?? null,
        last_by: last?.created_by ?? null,
        prior_id: newest.find(({ created_by }) => created_by !== last!.created_by)?.id ?? null,
      })
      for (const { apps } of room.nodes) {
        const state = await apps.confirm(app)
        const visible = newest.map(item => item.id)
        expect(state.recent.items.map(item => item.id).toReversed()).toEqual(visible)
      }
    }),
    { numRuns: 25, endOnFailure: true },
  )
})
