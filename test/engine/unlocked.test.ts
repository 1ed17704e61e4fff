import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { IdempotencyKey } from '../../src/api/idempotency-key.ts'
import { loadingCommand } from '../../src/engine/command.ts'
import type { Principal } from '../../src/auth/principal.ts'
import { putMembers, removeMembers } from '../../src/resources/apps/members/commands.ts'
import { blockSize } from '../../src/engine/state.ts'
import { openActors } from '../support/actors.ts'
import { eventually } from '../support/eventually.ts'
import { openRooms, send, system } from '../support/rooms.ts'

/** Two nodes that hear nothing of each other, on one database with one chat room. */
async function openNodes() {
  const database = await openRooms(1)
  const { sql } = database
  const app = database.rooms[0]!
  const [ann] = await sql<{ id: number }[]>`
    insert into users (uid, display_name, created_at) values ('ann', 'Ann', now()) returning id`
  const [one, other] = [await openActors(database.url), await openActors(database.url)]
  type Node = typeof one
  const sendFrom = (node: Node, by: Principal, text = 'hello', idempotencyKey?: IdempotencyKey) =>
    send(node.apps, app, { by, text, idempotencyKey })
  return {
    sql,
    app,
    ann: { kind: 'user', user: ann!.id, credential: 'ann' } satisfies Principal,
    one,
    other,
    send: sendFrom,
    async [Symbol.asyncDispose]() {
      for (const part of [one, other, database]) await part[Symbol.asyncDispose]()
    },
  }
}

test('what another node has committed counts at once, also for who has been let in or sent away', async () => {
  await using nodes = await openNodes()
  const { app, ann, one, other, send } = nodes
  const admit = (node: typeof one) => node.apps.run(putMembers, app, system, [{ user: ann.user, access: 'write' }])
  const dismiss = (node: typeof one) => node.apps.run(removeMembers, app, system, [ann.user])
  await send(one, system)
  await expect(send(one, ann)).rejects.toMatchObject({ status: 404 })

  for (const [here, there] of [
    [one, other],
    [other, one],
    [one, other],
  ] as const) {
    await admit(there)
    await send(here, ann)
    await dismiss(there)
    await expect(send(here, ann)).rejects.toMatchObject({ status: 404 })
  }
  expect(one.collisions() + other.collisions()).toBeGreaterThan(0)
})

test('what another node has committed about people counts at once as well', async () => {
  await using nodes = await openNodes()
  const { sql, app, ann, one, send } = nodes
  await sql`insert into directories (id, name, created_at) values (1, 'staff', now())`
  await sql`update apps set access = 'write', directory_id = 1 where id = ${app}`
  await send(one, system)
  await expect(send(one, ann)).rejects.toMatchObject({ status: 404 })

  await sql.begin(async tx => {
    await tx`insert into directory_members (directory_id, user_id) values (1, ${ann.user})`
    await tx`
      with changed as (
        insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, facts, created_at)
        select 0, nextval('numbers'), head_rev, 'directory_members_changed', 0, 'directory', 1,
          ${JSON.stringify({ users: [ann.user] })}::text::jsonb, now()
        from environment returning rev)
      update environment set head_rev = (select rev from changed)`
  })
  await send(one, ann)
})

test('nodes that write to an app at the same time make one history of it', async () => {
  await using nodes = await openNodes()
  const { sql, app, one, other, send } = nodes
  const burst = () => Promise.all(Array.from({ length: 40 }, (_, i) => send(i % 2 === 0 ? one : other, system)))

  const sent = [...(await burst()), ...(await burst()), ...(await burst())]

  const log = await sql<{ rev: number; prev: number; entity_id: number }[]>`
    select rev, prev, entity_id from events where app_id = ${app} order by rev`
  expect(log.map(({ prev }) => prev)).toEqual([1, ...log.slice(0, -1).map(({ rev }) => rev)])
  expect(log.map(({ entity_id }) => entity_id)).toEqual(log.map(({ entity_id }) => entity_id).toSorted((a, b) => a - b))
  expect(log.map(({ entity_id }) => entity_id)).toEqual(sent.map(({ id }) => id).toSorted((a, b) => a - b))
  const [kept] = await sql`select head_rev, item_count::int from apps where id = ${app}`
  expect(kept).toEqual({ head_rev: log.at(-1)!.rev, item_count: 120 })
})

test('a node that is alone with its apps never decides twice', async () => {
  await using nodes = await openNodes()
  const { app, ann, one, send } = nodes
  await one.apps.run(putMembers, app, system, [{ user: ann.user, access: 'read' }])
  for (let i = 0; i < 20; i++) {
    const [sent, refused] = await Promise.allSettled([send(one, system), send(one, ann)])
    expect([sent.status, refused.status]).toEqual(['fulfilled', 'rejected'])
  }
  expect(one.collisions()).toBe(0)
})

test('numbers of a message are above those that another node has used in its app', async () => {
  await using nodes = await openNodes()
  const { one, other, send } = nodes
  const sent = []
  for (const node of [one, other, one, other, one]) {
    await node.apps.remoteCommits.poll()
    sent.push(await send(node, system))
  }
  expect(sent.map(({ id }) => id)).toEqual(sent.map(({ id }) => id).toSorted((a, b) => a - b))
})

test('in a commit of several apps, each gets numbers above those that another node has used in it', async () => {
  await using database = await openRooms(2)
  const [first, second] = database.rooms
  await using one = await openActors(database.url)
  await using other = await openActors(database.url)
  const sendAll = ({ apps }: typeof one, rooms: number[]) => Promise.all(rooms.map(room => send(apps, room)))
  await sendAll(one, [first!, second!])

  // The numbers that one has at hand are above all that it knows of the first room, but not of the second.
  const [before] = await sendAll(other, [second!])
  await one.apps.remoteCommits.poll()
  const [, after] = await sendAll(one, [first!, second!])

  expect(after!.id).toBeGreaterThan(before!.id)
})

test('a request that another node has done before is not done again', async () => {
  await using nodes = await openNodes()
  const { sql, app, one, other, send } = nodes
  const idempotencyKey = { key: Buffer.alloc(32, 1), request: Buffer.alloc(32, 2) }
  await send(one, system)
  await send(other, system)

  const first = await send(one, system, 'once', idempotencyKey)
  const again = await Promise.all([
    send(other, system, 'once', idempotencyKey),
    send(one, system, 'once', idempotencyKey),
  ])

  expect(again.map(({ id }) => id)).toEqual([first.id, first.id])
  const [found] = await sql`select count(*)::int as count from messages where app_id = ${app}`
  expect(found).toEqual({ count: 3 })
  expect(one.collisions() + other.collisions()).toBeGreaterThan(0)
})

test('a request that another node does while it is being decided is not done again, wherever it was sent', async () => {
  await using database = await openRooms(2)
  const [here, there] = database.rooms
  await using one = await openActors(database.url)
  await using other = await openActors(database.url)
  const idempotencyKey = { key: Buffer.alloc(32, 1), request: Buffer.alloc(32, 2) }
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const slow = loadingCommand(
    'slow',
    async () => {
      begun.resolve()
      await gate.promise
    },
    work => ({ id: work.app.id }),
  )

  const late = one.apps.run(slow, here!, system, null, idempotencyKey)
  await begun.promise
  const first = await send(other.apps, there!, { idempotencyKey: idempotencyKey })
  gate.resolve()

  expect(await late).toMatchObject({ id: first.id })
})

test('an app that somebody else is writing to holds up no other app of the commit', async () => {
  await using database = await openRooms(2)
  const { sql, rooms } = database
  const [held, free] = rooms as [number, number]
  await using node = await openActors(database.url)
  const sendBoth = () => [send(node.apps, held), send(node.apps, free)] as const
  await Promise.all(sendBoth())

  // Decided on numbers at hand, and, after a pause, on those that the commit draws.
  for (const pauseMs of [0, 1_100]) {
    await delay(pauseMs)
    const waiting = await sql.begin(async tx => {
      await tx`select from apps where id = ${held} for no key update`
      const [late, prompt] = sendBoth()
      await prompt
      return { late, isLocked: (await sql`select from apps where id = ${held} for update skip locked`).length === 0 }
    })
    expect(waiting.isLocked).toBe(true)
    await waiting.late
  }

  const counts = await sql<{ count: number }[]>`select item_count::int as count from apps order by id`
  expect(counts).toMatchObject([{ count: 3 }, { count: 3 }])
})

test('messages are appended to an app that has moved elsewhere, in one commit with others', async () => {
  await using database = await openRooms(2)
  const [moved, free] = database.rooms as [number, number]
  await using one = await openActors(database.url)
  await using other = await openActors(database.url)
  const sendBoth = () => Promise.all([send(one.apps, moved), send(one.apps, free)])
  await sendBoth()
  await send(other.apps, moved)
  const before = one.commits.length

  await sendBoth()
  await sendBoth()

  expect(one.commits.slice(before)).toEqual([2, 2])
  expect((await one.apps.confirm(moved)).app).toEqual((await other.apps.confirm(moved)).app)
})

test('two nodes that write to an app in turns read nothing of it to do so, and both know all of it when it is read', async () => {
  await using nodes = await openNodes()
  const { app, one, other, send } = nodes
  await Promise.all([one, other].map(node => node.apps.state(app)))

  for (let i = 0; i < 20; i++) await send(i % 2 === 0 ? one : other, system, `message ${i}`)

  for (const { apps } of [one, other]) {
    expect(apps.current(app)).toBeUndefined()
    const state = await apps.confirm(app)
    expect(state.recent.items.map(({ text }) => text)).toEqual(Array.from({ length: 20 }, (_, i) => `message ${i}`))
    expect(state.app).toMatchObject({ item_count: 20, made_count: 20 })
  }
})

test('an app that other nodes have ceased to write to is brought up to date', async () => {
  await using nodes = await openNodes()
  const { app, one, other, send } = nodes
  await send(one, system)
  await send(other, system)
  await send(one, system)
  expect(one.apps.current(app)).toBeUndefined()

  await eventually(async () => {
    await one.apps.remoteCommits.poll()
    expect(one.apps.current(app)?.app.item_count).toBe(3)
  })
})

test('the blocks of an app begin with every 1,000th item, whichever node makes it', async () => {
  await using nodes = await openNodes()
  const { sql, app, one, other, send } = nodes
  await send(one, system)
  await send(other, system)
  // As if 996 more had been made, which both nodes learn.
  await sql`update apps set made_count = ${blockSize - 2}, item_count = ${blockSize - 2} where id = ${app}`
  for (const { apps } of [one, other]) await apps.confirm(app)
  for (const node of [one, other]) (await node.apps.confirm(app)).app.made_count = blockSize - 2

  const sent = []
  for (let i = 0; i < 6; i++) sent.push(await send(i % 2 === 0 ? one : other, system))

  const blocks = await sql<{ first_id: number }[]>`select first_id from blocks where app_id = ${app} order by first_id`
  expect(blocks.slice(1).map(({ first_id }) => first_id)).toEqual([sent[2]!.id])
})
