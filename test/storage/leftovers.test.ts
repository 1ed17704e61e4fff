import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { jobs as blobJobs } from '../../src/resources/blobs/jobs.ts'
import { idleJobs } from '../../src/resources/content/removal/idle.ts'
import { DiskBytes } from '../../src/bytes/bytes-disk.ts'
import { appOf, create } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { answer, startReceiver } from '../support/receiver.ts'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

const { signal } = new AbortController()
const daysAhead = (days: number) => async () => new Date(Date.now() + days * 24 * 3_600_000)

test('blobs that nothing uses go after a week, with their bytes; used ones stay', async () => {
  await using database = await createDatabase()
  using folder = temporaryFolder()
  const { sql } = database
  await using server = await startServer({ DATABASE_URL: database.url, DATA_DIR: folder.path })
  const bytes = new DiskBytes(join(folder.path, 'blobs'))
  const { body: app } = await server.admin.post('/api/apps', { type: 'files' })
  const use = async (path: string, name: string, toBody: (blob: string) => object) => {
    const { body: blob } = await upload(server.admin, {
      name,
      content: '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="1"/>',
    })
    await create(server.admin, path, toBody(blob.id))
    return Number(blob.id)
  }
  const { body: idle } = await upload(server.admin, { name: 'idle.txt', content: 'y' })
  const used = [
    await use(`/api/apps/${app.id}/files`, 'file.svg', blob_id => ({ blob_id })),
    await use('/api/apps', 'app.svg', picture => ({ type: 'chat', picture })),
    await use('/api/users', 'user.svg', picture => ({ uid: 'ann', picture })),
    await use('/api/embeds', 'embed.svg', image => ({ type: 'link', title: 'x', image })),
  ]
  const [row] = await sql<{ key: string }[]>`select key from blobs where id = ${idle.id}`

  for (const { run } of blobJobs({ sql, bytes, past: daysAhead(6) })) await run(signal)
  const early = await sql`select id from blobs`
  for (const { run } of blobJobs({ sql, bytes, past: daysAhead(8) })) await run(signal)

  expect(early).toHaveLength(5)
  expect(await sql`select id from blobs order by id`).toEqual(used.map(id => ({ id })))
  expect(await bytes.sizeOf(row!.key)).toBeNull()
  expect(await sql`select * from orphaned_bytes`).toHaveLength(0)
})

test('an embed that no item has goes after a month, found or described; used and trashed ones stay', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await using server = await startServer({ DATABASE_URL: database.url, FETCH_ALLOW: '127.0.0.0/8' })
  await using site = await startReceiver(answer(200, '<title>Page</title>', { 'content-type': 'text/html' }))
  const ann = await server.person('Ann')
  const room = await appOf(server, 'chat_room', [ann])
  const look = async (path: string) => (await ann.get(`/api/embeds?url=http://127.0.0.1:${site.port}/${path}`)).body.id
  const [idle, used, trashed] = [await look('1'), await look('2'), await look('3')]
  const described = (await create(ann, '/api/embeds', { type: 'link', title: 'x' })).id
  await create(ann, `/api/apps/${room}/messages`, { embed_id: used })
  const message = await create(ann, `/api/apps/${room}/messages`, { embed_id: trashed })
  await ann.post(`/api/messages/${message.id}/trash`)
  const doJobs = async (days: number) => {
    for (const { run } of idleJobs('embeds')({ sql, past: daysAhead(days) })) await run(signal)
    return (await sql<{ id: number }[]>`select id from embeds order by id`).map(({ id }) => String(id))
  }

  const early = await doJobs(29)
  await Promise.all([doJobs(31), doJobs(31)])
  const late = await doJobs(90)
  const usedTooLate = await ann.post(`/api/apps/${room}/messages`, { embed_id: idle })

  expect(early).toEqual([idle, used, trashed, described])
  expect(late).toEqual([used, trashed])
  expect(usedTooLate.status).toBe(422)
})

test('a meeting that no item has goes after a month; used and trashed ones stay', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await using server = await startServer({ DATABASE_URL: database.url })
  const ann = await server.person('Ann')
  const [room, feed] = [await appOf(server, 'chat_room', [ann]), await appOf(server, 'posts', [ann])]
  const plan = async () => (await create(ann, '/api/meetings', { join_url: 'https://meet.example/1' })).id
  const [idle, used, trashed] = [await plan(), await plan(), await plan()]
  await create(ann, `/api/apps/${feed}/posts`, { meeting_id: used })
  const message = await create(ann, `/api/apps/${room}/messages`, { meeting_id: trashed })
  await ann.post(`/api/messages/${message.id}/trash`)
  const doJobs = async (days: number) => {
    for (const { run } of idleJobs('meetings')({ sql, past: daysAhead(days) })) await run(signal)
    return (await sql<{ id: number }[]>`select id from meetings order by id`).map(({ id }) => String(id))
  }

  const early = await doJobs(29)
  await Promise.all([doJobs(31), doJobs(31)])
  const late = await doJobs(90)
  const usedTooLate = await ann.post(`/api/apps/${room}/messages`, { meeting_id: idle })

  expect(early).toEqual([idle, used, trashed])
  expect(late).toEqual([used, trashed])
  expect(usedTooLate.status).toBe(422)
})

test('an embed that somebody puts to use at the last moment stays', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await using server = await startServer({ DATABASE_URL: database.url, FETCH_ALLOW: '127.0.0.0/8' })
  await using site = await startReceiver(answer(200, '<title>Page</title>', { 'content-type': 'text/html' }))
  const ann = await server.person('Ann')
  const room = await appOf(server, 'chat_room', [ann])
  const { body: embed } = await ann.get(`/api/embeds?url=http://127.0.0.1:${site.port}/`)
  await sql`update embeds set checked_at = checked_at - interval '40 days'`
  // The message has chosen its embed, and waits for its turn in the room.
  const blocker = await sql.reserve()
  await blocker`begin`
  await blocker`select from apps where id = ${room} for no key update`

  const sending = create(ann, `/api/apps/${room}/messages`, { embed_id: embed.id })
  await eventually(async () => {
    const waiting = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    expect(waiting).toHaveLength(1)
  })
  for (const { run } of idleJobs('embeds')({ sql, past: daysAhead(0) })) await run(signal)
  await blocker`commit`
  blocker.release()

  expect((await sending).embed.id).toBe(embed.id)
  expect(await sql`select from embeds`).toHaveLength(1)
})

function temporaryFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'parley-leftovers-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
