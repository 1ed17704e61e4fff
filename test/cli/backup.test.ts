import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { ArchiveWriter } from '../../src/cli/backup/archive.ts'
import { backUp } from '../../src/cli/backup/backup.ts'
import { restore } from '../../src/cli/backup/restore.ts'
import { Progress } from '../../src/cli/progress.ts'
import { addPartitions } from '../../src/log/events.ts'
import { DiskBytes } from '../../src/bytes/bytes-disk.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { runAdmin } from '../support/admin.ts'
import { client, type Client } from '../support/client.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createDirectory, launchProgram, programKey, startProgram, type ReadyProgram } from '../support/process.ts'
import { listen } from '../support/realtime.ts'
import { startS3 } from '../support/s3.ts'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'

/** A database that nobody has used. */
const fresh = "template template0 encoding 'UTF8'"

// Four processes start here, two of them with a PostgreSQL of their own.
test(
  'what was acknowledged before a backup of a running node began is there after a restore',
  { timeout: 180_000 },
  async () => {
    await using dir = createDirectory()
    await using elsewhere = createDirectory()
    const file = join(elsewhere.path, 'parley.tar')
    await using node = await startProgram(dir)
    const app = await furnish(node)
    const writer = keepWriting(node.admin, app)
    await eventually(() => expect(writer.acknowledged.length).toBeGreaterThan(20))

    const before = [...writer.acknowledged]
    await succeed(runAdmin(dir, {}, 'backup', file))
    const after = await writer.stop()
    await succeed(runAdmin(elsewhere, {}, 'restore', file))

    await using copy = await startProgram(elsewhere)
    const texts = await listTexts(copy.admin, app)
    expect(texts.slice(0, before.length)).toEqual(before)
    expect(after.slice(0, texts.length)).toEqual(texts)
    expect(await readPicture(copy.admin, app)).toBe(picture)
    const { body: last } = await node.admin.post(`/api/apps/${app}/messages`, { text: 'lost' })
    const { body: next } = await copy.admin.post(`/api/apps/${app}/messages`, { text: 'goes on' })
    expect(Number(next.id)).toBeGreaterThan(Number(last.id))
  },
)

test('a restored database has every row, column and sequence of the one that was saved', async () => {
  await using source = await createDatabase()
  await using target = await createDatabase(fresh)
  await using dir = createDirectory()
  const node = await startProgram(dir, { DATABASE_URL: source.url })
  await furnish(node)
  node.kill('SIGTERM')
  await node.ended

  await copy(source, target, '--moved')

  const rows = await readEverything(source.sql)
  expect(await readEverything(target.sql)).toEqual(rows)
  expect(Object.keys(rows)).toEqual(expect.arrayContaining(['messages', 'events', 'users', 'migrations']))
  const sequences = (sql: Sql) =>
    sql`select sequencename, last_value from pg_sequences where schemaname = 'public' order by 1`
  expect(await sequences(target.sql)).toEqual(await sequences(source.sql))
  const constraints = (sql: Sql) =>
    sql`select conname from pg_constraint where connamespace = 'public'::regnamespace and convalidated order by 1`
  expect(await constraints(target.sql)).toEqual(await constraints(source.sql))
})

test('a restored database has a history of its own: clients that know what it lacks load again', async () => {
  await using source = await createDatabase()
  await using target = await createDatabase(fresh)
  await using dir = createDirectory()
  const file = join(dir.path, 'parley.tar')
  await using original = await startServer({ DATABASE_URL: source.url })
  const { app, people } = await original.chatWith(1)
  const [ann] = people
  await using before = await listen(original.url, { token: ann.token })
  const { epoch, rev: common } = await before.subscribe(app)
  await succeed(runAdmin(dir, { DATABASE_URL: source.url }, 'backup', file))
  await ann.post(`/api/apps/${app}/messages`, { text: 'lost' })
  const { rev: lost } = await before.hear('event')
  const ghost = await original.person('Ghost')

  await succeed(runAdmin(dir, { DATABASE_URL: target.url }, 'restore', file))
  await using restored = await startServer({ DATABASE_URL: target.url })

  expect(await client(restored.url, ghost.token).get('/api/user')).toMatchObject({ status: 401 })
  await using after = await listen(restored.url, { token: ann.token })
  const words = (place: object) => after.say({ type: 'subscribe', app_id: app, ...place })
  words({ after: lost, epoch })
  await after.hear('reset')
  words({ after: lost })
  await after.hear('reset')
  words({ after: common, epoch })
  expect((await after.hear('subscribed')).epoch).not.toBe(epoch)
  await after.hear('reset')
  // As far as both histories are the same, a client without an epoch may go on.
  words({ after: common })
  await after.hear('subscribed')
  await client(restored.url, ann.token).post(`/api/apps/${app}/messages`, { text: 'new' })
  expect(await after.hear('event')).toMatchObject({ prev: common })
})

test('a table that others keep in the database is left out of what is restored', async () => {
  await using source = await createDatabase()
  await using target = await createDatabase(fresh)
  const users = await source.sql`
    insert into users (name, display_name, created_at)
    select 'user-' || n, E'two\nlines', now() from generate_series(1, 2000) n returning id`
  await source.sql`create table reports (id serial primary key, user_id bigint references users, text text)`
  await source.sql`insert into reports (user_id, text) values (${users[0]!.id as number}, 'kept elsewhere')`

  const { saved, restored } = await copy(source, target)

  expect(restored).toContain('The table reports is not one of')
  const [row] =
    await target.sql`select count(*)::int as count, to_regclass('reports') as reports from users where id > 0`
  expect(row).toEqual({ count: 2000, reports: null })
  // Rows of all tables, of which most are these.
  expect(Number(/holds (\d+) rows/.exec(saved)?.[1])).toBeGreaterThan(2000)
})

test('triggers go on after a restore: they keep the audit log as it is', async () => {
  await using source = await createDatabase()
  await using target = await createDatabase(fresh)
  await source.sql`insert into users (name, display_name, created_at) values ('Ann', 'Ann', now())`
  await addPartitions(source.sql, new Date())
  await source.sql`insert into audit (at, actor_kind, action) values (now(), 'server', 'user_created')`
  await copy(source, target)

  for (const { sql } of [source, target]) {
    await expect(sql`update audit set action = 'x'`).rejects.toThrow('append-only')
    await expect(sql`truncate audit`).rejects.toThrow('append-only')
  }
})

test('files in a store are saved with the database, and restored into another store', async () => {
  await using first = await startS3()
  await using second = await startS3()
  await using source = await createDatabase()
  await using target = await createDatabase(fresh)
  await using dir = createDirectory()
  const file = join(dir.path, 'parley.tar')
  const settings = ({ endpoint, keys }: typeof first, url: string) => ({
    DATABASE_URL: url,
    S3_BUCKET: 'uploads',
    S3_ENDPOINT: endpoint,
    S3_PATH_STYLE: 'true',
    S3_ACCESS_KEY_ID: keys.accessKeyId,
    S3_SECRET_ACCESS_KEY: keys.secretAccessKey,
  })
  const node = await startProgram(dir, settings(first, source.url))
  const app = await furnish(node)
  // Larger than what is read ahead.
  const large = 'x'.repeat(2_000_000)
  await upload(node.admin, { name: 'large.txt', content: large })
  node.kill('SIGTERM')
  await node.ended

  const saved = await succeed(runAdmin(dir, settings(first, source.url), 'backup', file))
  const restored = await succeed(runAdmin(dir, settings(second, target.url), 'restore', file))

  expect(saved).toContain('2 files')
  expect(restored).toContain('2 files')
  await using copy = await startProgram(dir, settings(second, target.url))
  expect(await readPicture(copy.admin, app)).toBe(picture)
})

test('a backup of a database from before 0.9.0 is refused, and leaves the database empty', async () => {
  await using source = await createDatabase()
  await using target = await createDatabase(fresh)
  await using dir = createDirectory()
  const file = join(dir.path, 'parley.tar')
  await source.sql`update migrations set name = '0000_words.sql' where name = '0000_schema'`
  await succeed(runAdmin(dir, { DATABASE_URL: source.url }, 'backup', file))

  const { code, output } = await runAdmin(dir, { DATABASE_URL: target.url }, 'restore', file)

  expect(code).toBe(1)
  expect(output).toContain(
    'a database whose schema this version does not have. Restore it with the version that made it.',
  )
  expect(await target.sql`select from pg_tables where schemaname = 'public'`).toEqual([])
})

test('a backup that was cut short, changed, or is none leaves the database empty, and says what is wrong', async () => {
  await using source = await createDatabase()
  await using target = await createDatabase(fresh)
  await using dir = createDirectory()
  const whole = join(dir.path, 'parley.tar')
  await succeed(runAdmin(dir, { DATABASE_URL: source.url }, 'backup', whole))
  const content = readFileSync(whole)
  const changed = Buffer.from(content)
  changed[Math.floor(content.length / 2)]! ^= 1
  const attempt = (bytes: Uint8Array) =>
    restore({
      url: target.url,
      bytes: new DiskBytes(join(dir.path, 'blobs')),
      source: Readable.from([bytes]),
      hasLost: true,
      progress: new Progress(),
    })

  await expect(attempt(content.subarray(0, -4096))).rejects.toThrow('cut short')
  await expect(attempt(content.subarray(0, content.length / 2 + 100))).rejects.toThrow('cut short')
  await expect(attempt(changed)).rejects.toThrow('damaged')
  await expect(attempt(Buffer.from('no backup at all'))).rejects.toThrow('no backup')
  await expect(attempt(Buffer.alloc(0))).rejects.toThrow('no backup')

  expect(await target.sql`select from pg_tables where schemaname = 'public'`).toHaveLength(0)
  await attempt(content)
  expect(await target.sql`select from users`).toHaveLength(2)
})

test('a backup is not restored over what is there, and not written over another', async () => {
  await using source = await createDatabase()
  await using dir = createDirectory()
  const file = join(dir.path, 'parley.tar')
  const settings = { DATABASE_URL: source.url }
  await succeed(runAdmin(dir, settings, 'backup', file))

  const restored = await runAdmin(dir, settings, 'restore', file)
  const again = await runAdmin(dir, settings, 'backup', file)

  expect(restored).toMatchObject({ code: 1, output: expect.stringContaining('not empty') })
  expect(again).toMatchObject({ code: 1, output: expect.stringContaining('is there already') })
})

test('a backup whose target has no room left says so, and not what follows from it', async () => {
  await using source = await createDatabase()
  await source.sql`create table filler as select repeat(md5(n::text), 1000) as text from generate_series(1, 1000) n`
  let roomBytes = 100_000
  const target = new Writable({
    write(piece: Uint8Array, _encoding, done) {
      roomBytes -= piece.length
      done(roomBytes < 0 ? new Error('no space left on device') : null)
    },
  })
  const archive = new ArchiveWriter(target)

  const saving = backUp({ url: source.url, bytes: null, archive, version: '0', progress: new Progress() })

  await expect(saving).rejects.toThrow('no space left on device')
})

test('a node whose PostgreSQL does not read the files of its database says the way over, which keeps them', async () => {
  await using dir = createDirectory()
  const node = await startProgram(dir)
  node.kill('SIGTERM')
  await node.ended
  writeFileSync(join(dir.path, 'postgres/PG_VERSION'), '17\n')

  await using later = launchProgram(dir, { API_KEY: programKey })

  expect(await later.ended).toBe(1)
  expect(later.output()).toContain('was made by PostgreSQL 17')
  expect(later.output()).toMatch(/admin -- backup .*admin -- restore/s)
})

/** What a command printed, which has ended well. */
async function succeed(running: ReturnType<typeof runAdmin>): Promise<string> {
  const { code, output } = await running
  expect(code, output).toBe(0)
  return output
}

/** Saves one database and restores it into another; what both commands printed. */
async function copy(source: Database, target: Database, ...options: string[]) {
  await using dir = createDirectory()
  const file = join(dir.path, 'parley.tar')
  const saved = await succeed(runAdmin(dir, { DATABASE_URL: source.url }, 'backup', file))
  const restored = await succeed(runAdmin(dir, { DATABASE_URL: target.url }, 'restore', ...options, file))
  return { saved, restored }
}

/** A chat with two people, a message with a picture, a reaction, a comment on a post: something in most tables. */
async function furnish({ admin, url }: ReadyProgram): Promise<string> {
  const post = async (path: string, body: object) => {
    const answer = await admin.post(path, body)
    expect(answer).toMatchObject({ status: 201 })
    return answer.body
  }
  for (const uid of ['ann', 'ben']) await post('/api/users', { uid, name: uid })
  const members = ['ann', 'ben']
  const chat = await post('/api/apps', { type: 'chat', uid: 'garden', name: 'Garden', members })
  const feed = await post('/api/apps', { type: 'posts', uid: 'news', members })
  const blob = await upload(admin, { name: 'rose.svg', content: picture, type: 'image/svg+xml' })
  const message = await post(`/api/apps/${chat.id}/messages`, { text: 'A\trose \\N "é"\n', blobs: [blob.body.id] })
  const { body: token } = await admin.post('/api/users/ann/tokens')
  const reacted = await client(url, token.access_token).post(`/api/messages/${message.id}/reactions`, { content: '🌹' })
  expect(reacted).toMatchObject({ status: 204 })
  const item = await post(`/api/apps/${feed.id}/posts`, { text: 'News', options: [{ text: 'yes' }] })
  await post(`/api/posts/${item.id}/comments`, { text: 'Good' })
  return chat.id as string
}

/** Sends one message after the other until it is stopped. */
function keepWriting(admin: Client, app: string) {
  const acknowledged: string[] = []
  const over = new AbortController()
  const done = (async () => {
    while (!over.signal.aborted) {
      const text = `Message ${acknowledged.length}`
      const { status } = await admin.post(`/api/apps/${app}/messages`, { text })
      expect(status).toBe(201)
      acknowledged.push(text)
    }
    return acknowledged
  })()
  return {
    acknowledged,
    stop() {
      over.abort()
      return done
    },
  }
}

/** What was sent by `keepWriting`, in its order. */
async function listTexts(admin: Client, app: string): Promise<string[]> {
  const texts: string[] = []
  for (;;) {
    const { body } = await admin.get(`/api/apps/${app}/messages?order_by=id&take=100&skip=${texts.length + 1}`)
    texts.push(...(body.data ?? []).map(({ plain }: { plain: string }) => plain))
    if ((body.data ?? []).length < 100) return texts
  }
}

async function readPicture(admin: Client, app: string): Promise<string> {
  const { body } = await admin.get(`/api/apps/${app}/messages?order_by=id&take=1&out=details`)
  const { pathname, search } = new URL(body.data[0].attachments.data[0].download_url)
  const content = await admin.get(pathname + search)
  return content.body as string
}

/** Every table's rows, apart from what names the database itself. */
async function readEverything(sql: Sql): Promise<Record<string, unknown>> {
  const tables = await sql<{ name: string }[]>`
    select c.relname::text as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'environment' order by 1`
  const found: Record<string, unknown> = {}
  for (const { name } of tables) found[name] = await sql.unsafe(`select t::text from ${name} t order by 1`)
  return found
}
