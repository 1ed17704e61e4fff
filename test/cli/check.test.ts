import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { check } from '../../src/cli/check/check.ts'
import { Progress } from '../../src/cli/progress.ts'
import { DiskBytes } from '../../src/bytes/bytes-disk.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { createDatabase, dataDirOf } from '../support/database.ts'
import { startServer, type Server } from '../support/server.ts'
import { keptIn, upload } from '../support/uploads.ts'

test('nothing that people did leaves a derived value wrong', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await live(server)

  expect(await checkNow(database.url)).toEqual({ wrong: 0, repaired: 0, missing: 0 })
})

test('what was broken is found, named, and set right on request, while no node runs', async () => {
  await using database = await createDatabase()
  {
    await using server = await startServer({ DATABASE_URL: database.url })
    await live(server)
    await expect(checkNow(database.url, true)).rejects.toThrow('Nodes are running')
  }
  const sql = openSql({ url: database.url, connections: 1, statementTimeoutMs: 5_000, applicationName: 'test' })
  await sql`update apps set item_count = item_count + 3, last_id = 1, prior_id = null where type = 'chat_room'`
  await sql`update posts set comment_count = 9, reaction_count = 9`
  await sql`update members set marked_id = 99999999999 where marked_id is not null`
  await sql`update options set vote_count = 7`
  await sql.end()

  const found = await checkNow(database.url)
  const repaired = await checkNow(database.url, true)

  expect(found.wrong).toBeGreaterThanOrEqual(10)
  expect(repaired).toEqual({ ...found, repaired: found.wrong })
  expect(await checkNow(database.url)).toEqual({ wrong: 0, repaired: 0, missing: 0 })
})

test('a file whose bytes are gone is missing', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await upload(server.admin, { name: 'a.txt', content: 'a' })
  await upload(server.admin, { name: 'b.txt', content: 'b' })
  const folder = join(dataDirOf(database.url), 'blobs')
  const [key] = keptIn(folder)
  rmSync(join(folder, key!.slice(0, 2)), { recursive: true })

  const { missing } = await checkNow(database.url)

  expect(missing).toBeGreaterThan(0)
})

function checkNow(url: string, repairs = false) {
  const bytes = new DiskBytes(join(dataDirOf(url), 'blobs'))
  return check({ url, bytes, repairs, progress: new Progress() })
}

/** Something of everything that is counted, with changes of mind. */
async function live(server: Server): Promise<void> {
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await server.admin.post('/api/directories', { name: 'acme' })
  await server.admin.post('/api/users', { uid: 'kim', name: 'Kim', directories: ['acme'] })
  const sent = []
  for (const by of [ann, ben, ann, ann])
    sent.push((await by.post(`/api/apps/${app}/messages`, { text: 'Hello' })).body.id)
  await ben.post(`/api/messages/${sent[3]}/trash`)
  await ann.post(`/api/messages/${sent[3]}/trash`)
  expect((await ben.post(`/api/messages/${sent[0]}/reactions`, { content: '👍' })).status).toBe(204)
  await ben.put(`/api/apps/${app}/mark?message_id=${sent[0]}`)

  const members = [ann.uid, ben.uid]
  const feed = (await server.admin.post('/api/apps', { type: 'posts', uid: 'news', members })).body.id
  const post = (
    await ann.post(`/api/apps/${feed}/posts`, { text: 'Lunch?', options: [{ text: 'yes' }, { text: 'no' }] })
  ).body
  await ben.post(`/api/options/${post.options.data[0].id}/vote`)
  for (const text of ['one', 'two']) await ben.post(`/api/posts/${post.id}/comments`, { text })
  const blob = await upload(ann, { name: 'menu.txt', content: 'soup' })
  const other = (await ann.post(`/api/apps/${feed}/posts`, { text: 'Menu', blobs: [blob.body.id] })).body
  expect((await ben.post(`/api/posts/${other.id}/stars`)).status).toBe(200)
  const { body: comment } = await ann.post(`/api/posts/${other.id}/comments`, { text: 'three' })
  await ann.post(`/api/comments/${comment.id}/trash`)
  await ann.post(`/api/posts/${other.id}/trash`)
}
