import { expect, test } from 'vitest'
import { foldName } from '../../src/lib/name.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { listen } from '../support/realtime.ts'
import { startServer, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

async function withFile(server: Server) {
  const ann = await server.person('Ann')
  const { body: app } = await ann.post('/api/apps', { type: 'files', name: 'Plans' })
  const { body: blob } = await upload(ann, { name: 'plan.txt', content: 'one', type: 'text/plain' })
  const { body: file } = await ann.post(`/api/apps/${app.id}/files`, { blob_id: blob.id })
  return { ann, app, file }
}

test('the files of an app come as one archive, equal names apart', async () => {
  await using server = await startServer()
  const { ann, app, file } = await withFile(server)
  await ann.patch(`/api/files/${file.id}`, { name: 'Plan.txt' })
  const { body: other } = await upload(ann, { name: 'other.txt', content: 'two', type: 'text/plain' })
  await ann.post(`/api/apps/${app.id}/files`, { blob_id: other.id })
  const { body: shown } = await ann.get(`/api/apps/${app.id}`)

  const answer = await fetch(`${shown.archive_url}&d=1`)

  expect(answer.headers.get('content-type')).toBe('application/zip')
  const zip = Buffer.from(await answer.arrayBuffer()).toString('latin1')
  expect(zip.startsWith('PK')).toBe(true)
  expect(zip).toContain('Plan.txt')
  expect(zip).toContain('other.txt')
  expect(app.archive_url).toBeUndefined()
})

test('an archive has a name of its own for each file, and none that leads out of it', async () => {
  await using server = await startServer()
  const { ann, app } = await withFile(server)
  for (const name of ['..', '.', 'a:b.txt', 'A_B.txt', 'a_b (2).txt', 'caf\u00e9:b.txt', 'CAFE\u0301_b.txt']) {
    const { body: blob } = await upload(ann, { name: 'x', content: name })
    await ann.post(`/api/apps/${app.id}/files`, { blob_id: blob.id, name })
  }
  const { body: shown } = await ann.get(`/api/apps/${app.id}?out=details`)

  const answer = await fetch(shown.archive_url)

  expect(answer.status).toBe(200)
  const names = namesIn(Buffer.from(await answer.arrayBuffer()))
  expect(names).toEqual(expect.arrayContaining(['_', '__', 'a_b.txt', 'plan.txt']))
  expect(new Set(names.map(foldName)).size).toBe(8)
})

test('an archive breaks off where the bytes of a file are gone, so that nobody takes it for a whole one', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { ann, app } = await withFile(server)
  const { archive_url } = (await ann.get(`/api/apps/${app.id}`)).body
  const { body: blob } = await upload(ann, { name: 'gone.txt', content: 'two' })
  await ann.post(`/api/apps/${app.id}/files`, { blob_id: blob.id })
  await database.sql`update blobs set key = 'gone' where id = ${blob.id}`

  await expect(fetch(archive_url).then(answer => answer.arrayBuffer())).rejects.toThrow()

  expect((await ann.get(`/api/apps/${app.id}`)).status).toBe(200)
})

test('HEAD of an archive tells no size, because nobody knows it yet', async () => {
  await using server = await startServer()
  const { ann, app } = await withFile(server)
  const { body: shown } = await ann.get(`/api/apps/${app.id}`)

  const { status, headers } = await fetch(shown.archive_url, { method: 'HEAD' })

  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('application/zip')
  expect(headers.get('content-length')).toBe(null)
})

test('an archive of thousands of files holds each of them once', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { ann, app, file } = await withFile(server)
  const { archive_url } = (await ann.get(`/api/apps/${app.id}`)).body
  await database.sql`
    insert into files (id, app_id, rev, name, size, created_at, created_by)
    select id + i, app_id, rev, 'copy ' || i, size, now(), 1 from files, generate_series(1, 1200) i where id = ${file.id}`
  await database.sql`
    insert into file_versions (file_id, rev, app_id, blob_id, created_at, created_by)
    select file_id + i, rev, app_id, blob_id, now(), 1 from file_versions, generate_series(1, 1200) i`

  const names = namesIn(Buffer.from(await (await fetch(archive_url)).arrayBuffer()))

  expect(names).toHaveLength(1201)
  expect(new Set(names).size).toBe(1201)
})

test('a link to an archive ends with the access of whom it was made for', async () => {
  await using server = await startServer()
  const { ann, app } = await withFile(server)
  const ben = await server.person('Ben')
  const path = `/api/apps/${app.id}`
  await ann.put(`${path}/members/${ben.id}`, { access: 'write' })
  await using inbox = await listen(server.url, { token: ben.token })
  await inbox.subscribe(app.id)
  const { body: blob } = await upload(ben, { name: 'more.txt', content: 'more' })
  await ben.post(`${path}/files`, { blob_id: blob.id })
  const [told] = await inbox.take(1)
  const links: string[] = []
  for (const one of [ann, server.admin, ben]) links.push((await one.get(path)).body.archive_url)
  const statuses = () => Promise.all(links.map(async link => (await fetch(link, { method: 'HEAD' })).status))

  const before = await statuses()
  await ann.delete(`${path}/members/${ben.id}`)
  const removed = await statuses()
  await server.admin.put(`${path}/members/${ben.id}`, { access: 'read' })
  await server.admin.post(`/api/users/${ben.id}/trash`)
  const trashed = await statuses()
  await ann.post(`${path}/trash`)

  expect([before, removed, trashed, await statuses()]).toEqual([
    [200, 200, 200],
    [200, 200, 404],
    [200, 200, 404],
    [404, 404, 404],
  ])
  expect((await fetch(links[2]!.replace(`/${ben.id}?`, `/${ann.id}?`))).status).toBe(404)
  expect(told.file.app).toMatchObject({ id: app.id, name: 'Plans' })
  expect(JSON.stringify(told)).not.toContain('archive')
})

test('whoever asks what an archive is like does not have its files read', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url, STATEMENT_SECONDS: '1' })
  const { ann, app } = await withFile(server)
  const { archive_url } = (await ann.get(`/api/apps/${app.id}`)).body

  const answer = await database.sql.begin(async tx => {
    await tx`lock table files in access exclusive mode`
    return await fetch(archive_url, { method: 'HEAD' })
  })

  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip'])
})

/** What the directory at the end of a ZIP lists. */
function namesIn(zip: Buffer): string[] {
  const names: string[] = []
  for (let at = zip.indexOf('PK\x01\x02'); at >= 0; at = zip.indexOf('PK\x01\x02', at + 4)) {
    names.push(zip.toString('utf8', at + 46, at + 46 + zip.readUInt16LE(at + 28)))
  }
  return names
}

test('a user has two archives at a time, and others have theirs', async () => {
  await using server = await startServer()
  const { ann, app } = await withFile(server)
  // More than what is sent to a client that does not read.
  const { body: blob } = await upload(ann, {
    name: 'large.zip',
    content: 'x'.repeat(30_000_000),
    type: 'application/zip',
  })
  await ann.post(`/api/apps/${app.id}/files`, { blob_id: blob.id })
  const { archive_url } = (await ann.get(`/api/apps/${app.id}`)).body
  const { archive_url: ofKey } = (await server.admin.get(`/api/apps/${app.id}`)).body

  const slow = [await fetch(archive_url), await fetch(archive_url)]
  const refused = await fetch(archive_url)
  const other = await fetch(ofKey)

  expect([...slow, refused, other].map(({ status }) => status)).toEqual([200, 200, 503, 200])
  expect(refused.headers.get('retry-after')).toBe('5')
  for (const answer of [...slow, other]) await answer.body?.cancel()
  await eventually(async () => {
    const again = await fetch(archive_url)
    await again.body?.cancel()
    expect(again.status).toBe(200)
  })
})
