import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Apps } from '../../src/engine/apps.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { jobs as appJobs } from '../../src/resources/apps/purge/jobs.ts'
import { removeContentOf } from '../../src/resources/items/removal/remove.ts'
import { resources } from '../../src/resources/index.ts'
import type { JobParts } from '../../src/resources/resource.ts'
import { DiskBytes } from '../../src/bytes/bytes-disk.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { openActors } from '../support/actors.ts'
import type { Body } from '../support/client.ts'
import { appOf, create } from '../support/content.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { allFollowed } from '../support/followed.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

const dayMs = 24 * 3_600_000

/** Tables that hold nothing of what people make in apps. A new table is here, or `fill` puts something into it. */
const unrelated = new Set([
  ...[
    'users',
    'directories',
    'directory_members',
    'tokens',
    'grants',
    'mcp_sessions',
    'api_keys',
    'follows',
    'host_keys',
    'environment',
    'migrations',
    'imported',
  ],
  ...['agents', 'agent_functions', 'agent_servers', 'webhooks', 'deliveries', 'idempotency'],
  ...['deleted_users', 'followed_position'],
  ...['admin_sessions', 'audit', 'nodes', 'samples', 'storage_totals'],
])

/** What is there for a moment only, while something is being done. */
const passing = new Set(['deleted_parents', 'orphaned_bytes', 'notifiable'])

/** What jobs of their own make and forget, some time after what it is made of has come and gone. */
const following = new Set(['agent_threads', 'knowledge_apps', 'knowledge_files', 'knowledge_passages'])

/** What outlives an app: its history, for as long as histories are kept, and calls, which items elsewhere may name. */
const outliving = new Set(['events', 'meetings'])

test('of apps that were deleted nothing is left in any table, and of others everything', async () => {
  await using house = await startHouse()
  const { server, sql, ann, ben } = house
  const bot = await create(server.admin, '/api/agents', { uid: 'bot', name: 'Bot', provider: 'openai', model: 'small' })
  await fillApps(house)
  const before = await settledCounts(house)
  const kept = await sql`select id from files order by id`

  const apps = await fillApps(house)
  const library = await create(server.admin, '/api/apps', { type: 'files', uid: 'library' })
  await server.admin.patch(`/api/agents/${bot.id}`, { knowledge: [apps[1], library.id] })
  const filled = await settledCounts(house)
  for (const app of apps) await server.admin.delete(`/api/apps/${app}`)
  await doJobs(house)

  const kinds = Object.keys(before).filter(isFilled)
  expect(kinds.filter(table => filled[table]! > before[table]!)).toEqual(kinds)
  await server.admin.delete(`/api/apps/${library.id}`)
  await eventually(async () => {
    await doJobs(house)
    expect(bound(await count(sql))).toEqual(bound(before))
  })
  expect(await sql`select id from files order by id`).toEqual(kept)
  expect(await sql`select knowledge from agents`).toEqual([{ knowledge: [] }])
  for (const who of [ann, ben]) expect((await who.get('/api/notifications')).body.count).not.toBe('0')
})

test('an app that was deleted just now is left until every node has heard of it', async () => {
  await using house = await startHouse()
  const { server, sql, ann } = house
  const chat = await appOf(server, 'chat_room', [ann])
  await server.admin.delete(`/api/apps/${chat}`)
  const doJobsIn = async (seconds: number) => {
    const past = async () => new Date(Date.now() + seconds * 1000)
    for (const { run } of appJobs(removeContentOf, { sql, clock: systemClock, past }))
      await run(new AbortController().signal)
    return (await sql`select from apps`).length
  }

  expect(await doJobsIn(30)).toBe(1)
  expect(await doJobsIn(61)).toBe(0)
})

test('what is left of an app goes in portions, with a rest after each', async () => {
  await using house = await startHouse()
  const { server, sql, ann } = house
  const chat = await appOf(server, 'chat_room', [ann])
  await sql`
    insert into messages (id, app_id, text, created_at, created_by)
    select nextval('numbers'), ${chat}, 'x', now(), ${ann.id} from generate_series(1, 450)`
  await server.admin.delete(`/api/apps/${chat}`)
  let rests = 0
  const after = (delayMs: number, run: () => void) => {
    rests++
    return systemClock.after(delayMs, run)
  }
  const past = async () => new Date(Date.now() + 2 * 60_000)
  const parts = { sql, clock: { ...systemClock, after }, past }
  for (const { run } of appJobs(removeContentOf, parts)) await run(new AbortController().signal)

  expect(await sql`select from messages where app_id = ${chat}`).toHaveLength(0)
  expect(rests).toBe(2)
})

test('a post takes all that hangs on it along, and on its comments, and a file does', async () => {
  await using house = await startHouse()
  const { server, sql, ann, ben } = house
  const [feed, library] = await Promise.all(['posts', 'files'].map(type => appOf(server, type, [ann, ben])))
  // So that there is what comes with the first item of an app and stays.
  await fillFeed(house, feed!)
  await fillLibrary(house, library!)
  const before = await settledCounts(house)

  const [post, file] = [await fillFeed(house, feed!), await fillLibrary(house, library!)]
  await settledCounts(house)
  await server.admin.delete(`/api/posts/${post.id}`)
  await server.admin.delete(`/api/files/${file.id}`)

  await eventually(async () => {
    await doJobs(house)
    expect(bound(await count(sql))).toEqual(bound(before))
  })
})

test('an attachment that an edit takes away takes along what hangs on it', async () => {
  await using house = await startHouse()
  const { server, sql, ann, ben } = house
  const chat = await appOf(server, 'chat_room', [ann, ben])
  const message = await create(ann, `/api/apps/${chat}/messages`, { text: 'Hello' })
  await ann.patch(`/api/messages/${message.id}`, { text: 'Hello again' })
  const before = await settledCounts(house)
  const { body: blob } = await upload(ann, { name: 'note.txt', content: 'note' })
  const { body: edited } = await ann.patch(`/api/messages/${message.id}`, { blobs: [blob.id] })
  const file = edited.attachments.data?.[0] ?? edited.attachments[0]
  await create(ben, `/api/files/${file.id}/stars`)
  const link = { type: 'file', id: file.id }
  await create(server.admin, '/api/notifications', { user: ben.uid, text: 'Look', link })

  await ann.patch(`/api/messages/${message.id}`, { attachments: [] })

  await eventually(async () => {
    await doJobs(house)
    expect(bound(await count(sql))).toEqual(bound(before))
  })
})

test('what a node was removing when it died is removed by another', async () => {
  await using house = await startHouse()
  const { server, sql, ann } = house
  const chat = await appOf(server, 'chat_room', [ann])
  const messages: Body[] = []
  for (const text of ['one', 'two', 'three']) messages.push(await create(ann, `/api/apps/${chat}/messages`, { text }))
  await server.admin.delete(`/api/apps/${chat}`)
  const dying = await sql.reserve()
  await dying`begin`
  await dying`delete from messages where id = ${messages[1].id}`

  await doJobs(house)
  const inBetween = await sql`select (select count(*) from apps) as apps, (select count(*) from messages) as messages`
  await dying`rollback`
  dying.release()
  await doJobs(house)

  expect(inBetween).toEqual([{ apps: 1, messages: 1 }])
  expect(await sql`select from apps`).toHaveLength(0)
  expect(await sql`select from messages`).toHaveLength(0)
})

interface House extends AsyncDisposable {
  server: Server
  sql: Sql
  apps: Apps
  bytes: DiskBytes
  daysAhead: number
  /** Where every address is a picture. */
  site: Receiver
  ann: Person
  ben: Person
}

async function startHouse(): Promise<House> {
  const database: Database = await createDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'parley-purge-'))
  const server = await startServer({ DATABASE_URL: database.url, DATA_DIR: folder, FETCH_ALLOW: '127.0.0.0/8' })
  const site = await startReceiver((_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' }).end(dot)
  })
  const node = await openActors(database.url)
  const [ann, ben] = await Promise.all([server.person('Ann'), server.person('Ben')])
  return {
    server,
    sql: database.sql,
    apps: node.apps,
    daysAhead: 0,
    site,
    bytes: new DiskBytes(join(folder, 'blobs')),
    ann,
    ben,
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]()
      await node[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** One turn of the jobs that remove what was left, each as if weeks had passed since the last. */
async function doJobs(house: House): Promise<void> {
  const { sql, apps, bytes } = house
  house.daysAhead += 60
  const past = async () => new Date(Date.now() + house.daysAhead * dayMs)
  const parts: JobParts = { sql, clock: systemClock, apps, bytes, trashDays: 0, past }
  const { signal } = new AbortController()
  for (const { jobs } of resources) for (const { run } of jobs?.(parts) ?? []) await run(signal)
}

/** Three apps in which people have done all that they can do. */
async function fillApps(house: House): Promise<string[]> {
  const { server, ann, ben } = house
  const apps: string[] = []
  for (const type of ['posts', 'files', 'chat_room']) {
    const { body: picture } = await upload(server.admin, { name: 'a.png', content: dot, type: 'image/png' })
    apps.push(await appOf(server, type, [ann, ben], { picture: picture.id }))
  }
  const [feed, library, chat] = apps
  for (const app of apps) {
    await create(ann, `/api/apps/${app}/stars`)
    await create(server.admin, '/api/notifications', { user: ann.uid, text: 'x', link: { type: 'app', id: app } })
  }
  await fillFeed(house, feed!)
  await fillLibrary(house, library!)
  const message = await fillItem(house, `/api/apps/${chat}/messages`)
  await useItem(house, 'messages', message)
  await answer(house, chat!, message.id)
  return apps
}

/** What an agent leaves behind that was asked by a message, and cited a file in its answer. */
async function answer({ sql }: House, app: string, item: string): Promise<void> {
  const [run] = await sql<{ id: number }[]>`
    insert into agent_runs (agent_id, app_id, item_type, item_id, asker_id, conversation, state, created_at)
    values (1, ${app}, 'message', ${item}, 1, ${app}, 'done', now()) returning id`
  await sql`insert into agent_steps (run_id, n, kind, began_at) values (${run!.id}, 1, 'model', now())`
  await sql`
    insert into agent_approvals (run_id, step, server, tool, arguments, binding, state, created_at)
    values (${run!.id}, 1, 'crm', 'get', '{}', '', 'approved', now())`
  await sql`insert into item_annotations (item_type, item_id, place, file_id) values ('message', ${item}, 1, 1)`
  await sql`insert into item_context (item_type, item_id, blob_ids, created_at) values ('message', ${item}, '{}', now())`
}

async function fillFeed(house: House, feed: string): Promise<Body> {
  const post = await fillItem(house, `/api/apps/${feed}/posts`)
  await useItem(house, 'posts', post)
  await create(house.ben, `/api/posts/${post.id}/subscribe`)
  await useItem(house, 'comments', await fillItem(house, `/api/posts/${post.id}/comments`))
  return post
}

async function fillLibrary(house: House, library: string): Promise<Body> {
  const { ann, ben } = house
  const blobs: Body[] = []
  for (const content of ['one', 'two']) blobs.push((await upload(ann, { name: 'plan.txt', content })).body)
  const name = `${blobs[0].id}.txt`
  const file = await create(ann, `/api/apps/${library}/files`, { blob_id: blobs[0].id, name })
  await create(ben, `/api/files/${file.id}/subscribe`)
  await create(ann, `/api/apps/${library}/files`, { blob_id: blobs[1].id, name, replace: true })
  await create(ben, `/api/files/${file.id}/stars`)
  await useItem(house, 'comments', await fillItem(house, `/api/files/${file.id}/comments`))
  return file
}

/** An item of which Ann makes as much as she can. */
async function fillItem({ ann, ben, site }: House, path: string): Promise<Body> {
  const { body: blob } = await upload(ann, { name: 'note.txt', content: 'note' })
  const meeting = await create(ann, '/api/meetings', { join_url: 'https://zoom.us/j/1' })
  const embed = await lookAtSite([ann, ben], site)
  const options = [{ text: 'yes' }, { text: 'no' }]
  const text = `Hello [Ben](@${ben.uid})`
  return create(ann, path, { text, blobs: [blob.id], meeting_id: meeting.id, embed_id: embed.id, options })
}

/** What is at an address that nobody has asked for before; one after the other asks. */
async function lookAtSite(people: Person[], { port, requests }: Receiver): Promise<Body> {
  const url = encodeURIComponent(`http://127.0.0.1:${port}/${requests.length}.png`)
  let embed: Body
  for (const who of people) embed = (await who.get(`/api/embeds?url=${url}`)).body
  return embed
}

/** Ben does with it what he can, and is told of what is attached to it; Ann edits it. */
async function useItem({ server, ann, ben }: House, kind: string, { id }: Body): Promise<void> {
  const { body: item } = await ann.get(`/api/${kind}/${id}`)
  const attachment = item.attachments.data?.[0] ?? item.attachments[0]
  const option = item.options.data?.[0] ?? item.options[0]
  await create(ben, `/api/${kind}/${id}/reactions`, { content: '👍' })
  await create(ben, `/api/options/${option.id}/vote`)
  await create(ben, `/api/${kind}/${id}/stars`)
  await create(ben, `/api/files/${attachment.id}/stars`)
  const link = { type: 'file', id: attachment.id }
  await create(server.admin, '/api/notifications', { user: ben.uid, text: 'Look', link })
  await ann.patch(`/api/${kind}/${id}`, { tags: ['edited'] })
}

type Counts = Record<string, number>

/** Rows in every table that there is, when notifications have been made of all that was done. */
async function settledCounts({ sql }: House): Promise<Counts> {
  await allFollowed(sql)
  return count(sql)
}

async function count(sql: Sql): Promise<Counts> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`
  const counts: Counts = {}
  for (const { name } of tables) {
    if (unrelated.has(name)) continue
    const [row] = await sql<{ count: number }[]>`select count(*) as count from ${sql(name)}`
    counts[name] = row!.count
  }
  return counts
}

const isFilled = (table: string) => !passing.has(table) && !following.has(table)

/** What goes with what is deleted. */
function bound(counts: Counts): Counts {
  return Object.fromEntries(Object.entries(counts).filter(([table]) => !following.has(table) && !outliving.has(table)))
}

/** A picture of one pixel. */
const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==',
  'base64',
)
