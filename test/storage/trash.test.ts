import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { resources } from '../../src/resources/index.ts'
import type { Job } from '../../src/jobs/jobs.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { DiskBytes } from '../../src/bytes/bytes-disk.ts'
import { openActors } from '../support/actors.ts'
import { appOf, create } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

const trashDays = 30

test('what has been in the trash for long enough is deleted like by anybody else, and what has not stays', async () => {
  await using house = await startHouse()
  const { server, sql, ann } = house
  const places = await makePlaces(house)
  const [old, young]: [string[], string[]] = [[], []]
  for (const { path, make } of places) {
    for (const pile of [old, young]) {
      const { id } = await make()
      await ann.post(`/api/${path}/${id}/trash`)
      pile.push(`${path}/${id}`)
    }
  }
  for (const item of old) await age(sql, item)

  await emptyTrash(house)

  const statuses = async (items: string[]) =>
    Promise.all(items.map(async item => (await server.admin.get(`/api/${item}?trashed=true`)).status))
  expect(await statuses(old)).toEqual([404, 404, 404, 404, 404])
  expect(await statuses(young)).toEqual([200, 200, 200, 200, 200])
  const told = await sql`select type, entity_id, actor_id from events where type like '%\\_deleted' order by entity_id`
  const ids = old.map(item => Number(item.split('/')[1])).toSorted((a, b) => a - b)
  expect(told.map(({ entity_id, actor_id }) => [entity_id, actor_id])).toEqual(ids.map(id => [id, 0]))
  expect(await sql`select trashed_count, item_count from apps order by type`).toEqual([
    { trashed_count: 1, item_count: 0 },
    { trashed_count: 1, item_count: 1 },
    { trashed_count: 1, item_count: 1 },
  ])
})

test('nothing is deleted from the trash unless that is asked for', async () => {
  await using house = await startHouse()

  expect(trashJobs(house, 0)).toEqual([])
  expect(trashJobs(house, trashDays)).toHaveLength(4)
})

test('several nodes may empty one trash at the same time', async () => {
  await using house = await startHouse()
  await using other = await openActors(house.url)
  const { sql, ann } = house
  const room = await appOf(house.server, 'chat_room', [ann])
  const trash = async () => {
    const { id } = await create(ann, `/api/apps/${room}/messages`, { text: 'x' })
    await ann.post(`/api/messages/${id}/trash`)
  }
  // More than one look finds.
  for (let i = 0; i < 11; i++) await Promise.all(Array.from({ length: 10 }, trash))
  await sql`update messages set trashed_at = trashed_at - interval '40 days'`

  await Promise.all([emptyTrash(house), emptyTrash({ ...house, apps: other.apps })])

  expect(await sql`select from messages`).toHaveLength(0)
  const deleted = await sql`select entity_id from events where type = 'message_deleted'`
  expect(new Set(deleted.map(({ entity_id }) => entity_id)).size).toBe(110)
  expect(deleted).toHaveLength(110)
})

test('what is hidden with its app or its post stays for as long, and has its turn later', async () => {
  await using house = await startHouse()
  const { server, sql, ann } = house
  const [room, feed] = await Promise.all(['chat_room', 'posts'].map(type => appOf(server, type, [ann])))
  const message = await create(ann, `/api/apps/${room}/messages`, { text: 'x' })
  const post = await create(ann, `/api/apps/${feed}/posts`, { text: 'x' })
  const comment = await create(ann, `/api/posts/${post.id}/comments`, { text: 'x' })
  const items = [`messages/${message.id}`, `comments/${comment.id}`]
  for (const item of items) {
    await ann.post(`/api/${item}/trash`)
    await age(sql, item)
  }
  await server.admin.post(`/api/apps/${room}/trash`)
  await ann.post(`/api/posts/${post.id}/trash`)
  const left = async () => [
    ...(await sql`select id from messages`).map(({ id }) => String(id)),
    ...(await sql`select id from comments`).map(({ id }) => String(id)),
  ]

  await emptyTrash(house)
  const whileHidden = await left()
  await server.admin.post(`/api/apps/${room}/restore`)
  await ann.post(`/api/posts/${post.id}/restore`)
  await emptyTrash(house)

  expect(whileHidden).toEqual([message.id, comment.id])
  expect(await left()).toEqual([])
})

test('what somebody restores at the last moment stays', async () => {
  await using house = await startHouse()
  const { server, sql, ann } = house
  const room = await appOf(server, 'chat_room', [ann])
  const { id } = await create(ann, `/api/apps/${room}/messages`, { text: 'x' })
  await ann.post(`/api/messages/${id}/trash`)
  await age(sql, `messages/${id}`)
  // Whoever holds the app's lock is first, and everybody else decides on what is there then.
  const restoring = await sql.reserve()
  await restoring`begin`
  await restoring`select from apps where id = ${room} for no key update`

  const emptied = emptyTrash(house)
  await eventually(async () => {
    const waiting = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    expect(waiting).toHaveLength(1)
  })
  await restoring`update messages set trashed_at = null where id = ${id}`
  await restoring`commit`
  restoring.release()
  await emptied

  expect((await ann.get(`/api/messages/${id}`)).status).toBe(200)
})

interface House extends AsyncDisposable {
  url: string
  server: Server
  sql: Sql
  apps: Awaited<ReturnType<typeof openActors>>['apps']
  ann: Person
}

/** A server, and another node that empties the trash. */
async function startHouse(): Promise<House> {
  const database = await createDatabase()
  const server = await startServer({ DATABASE_URL: database.url })
  const node = await openActors(database.url)
  return {
    url: database.url,
    server,
    sql: database.sql,
    apps: node.apps,
    ann: await server.person('Ann'),
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** Where things can be put into the trash, and how they are made. */
async function makePlaces({ server, ann }: House) {
  const [room, feed, library] = await Promise.all(
    ['chat_room', 'posts', 'files'].map(type => appOf(server, type, [ann])),
  )
  const text = 'Hello'
  const addFile = async () => {
    const { body: blob } = await upload(ann, { name: 'a.txt', content: 'a' })
    return create(ann, `/api/apps/${library}/files`, { blob_id: blob.id, name: `${blob.id}.txt` })
  }
  const [post, file] = [await create(ann, `/api/apps/${feed}/posts`, { text }), await addFile()]
  return [
    { path: 'messages', make: () => create(ann, `/api/apps/${room}/messages`, { text }) },
    { path: 'posts', make: () => create(ann, `/api/apps/${feed}/posts`, { text }) },
    { path: 'comments', make: () => create(ann, `/api/posts/${post.id}/comments`, { text }) },
    { path: 'comments', make: () => create(ann, `/api/files/${file.id}/comments`, { text }) },
    { path: 'files', make: addFile },
  ]
}

/** Makes it look as if something had been put into the trash 40 days ago. */
async function age(sql: Sql, item: string): Promise<void> {
  const [table, id] = item.split('/')
  await sql`update ${sql(table!)} set trashed_at = trashed_at - interval '40 days' where id = ${id!}`
}

async function emptyTrash(house: Pick<House, 'sql' | 'apps'>): Promise<void> {
  const { signal } = new AbortController()
  for (const { run } of trashJobs(house, trashDays)) await run(signal)
}

function trashJobs({ sql, apps }: Pick<House, 'sql' | 'apps'>, days: number): Job[] {
  const parts = {
    sql,
    clock: systemClock,
    apps,
    bytes: new DiskBytes(tmpdir()),
    trashDays: days,
    past: async () => new Date(),
  }
  return resources.flatMap(({ jobs }) => jobs?.(parts) ?? []).filter(({ name }) => name.startsWith('empty the trash'))
}
