import { expect, test } from 'vitest'
import { startServer, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'
import type { Client } from '../support/client.ts'

/** A files app with somebody who may write in it, somebody who may read it, and somebody who may not see it. */
async function withFiles(server: Server) {
  const [ann, ben, eve] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
  const { body: app } = await ann.post('/api/apps', { type: 'files', name: 'Plans' })
  await ann.put(`/api/apps/${app.id}/members/${ben.id}`, { access: 'read' })
  const add = async (by: Client, name: string, content = 'hello', extra: object = {}) => {
    const { body: blob } = await upload(by, { name, content, type: 'text/plain' })
    return by.post(`/api/apps/${app.id}/files`, { blob_id: blob.id, ...extra })
  }
  return { app: app.id as string, ann, ben, eve, add }
}

test('a blob becomes a file of the app, by its uploader', async () => {
  await using server = await startServer()
  const { app, ann, add } = await withFiles(server)

  const { status, body } = await add(ann, 'plan.txt')

  expect(status).toBe(201)
  expect(body).toMatchObject({
    name: 'plan.txt',
    kind: 'text',
    media_type: 'text/plain',
    size: '5',
    preview_format: 'text',
    app: { id: app },
    created_by: { id: ann.id },
    comments: { count: '0' },
    is_subscribed: true,
    is_starred: false,
    is_trashed: false,
  })
  expect((await ann.get(`/api/files/${body.id}`)).body).toEqual(body)
})

test('a name can be taken once, in any case; with replace it becomes a new version', async () => {
  await using server = await startServer()
  const { ann, add } = await withFiles(server)
  const { body: first } = await add(ann, 'plan.txt')

  const again = await add(ann, 'PLAN.txt')
  const replaced = await add(ann, 'plan.txt', 'hello again', { replace: true })

  expect(again).toMatchObject({
    status: 409,
    body: {
      title: 'Conflict',
      detail: 'A file named "plan.txt" already exists.',
      errors: { name: [expect.any(String)] },
    },
  })
  expect(replaced).toMatchObject({ status: 200, body: { id: first.id, size: '11' } })
  const { body: versions } = await ann.get(`/api/files/${first.id}/versions`)
  expect(versions).toMatchObject({ count: '2', data: [{ rev: replaced.body.rev }, { rev: first.rev, size: '5' }] })
  expect(Number(replaced.body.rev)).toBeGreaterThan(Number(first.rev))
})

test('two who take a name at the same time do not both get it', async () => {
  await using server = await startServer()
  const { ann, app, add } = await withFiles(server)
  const blobs = await Promise.all([1, 2, 3, 4].map(() => upload(ann, { name: 'plan.txt', content: 'x' })))

  const answers = await Promise.all(blobs.map(({ body }) => ann.post(`/api/apps/${app}/files`, { blob_id: body.id })))

  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  expect((await add(ann, 'other.txt')).status).toBe(201)
})

test('an old version can be read, restored and deleted, the current one only read', async () => {
  await using server = await startServer()
  const { ann, add } = await withFiles(server)
  const { body: first } = await add(ann, 'plan.txt', 'one')
  const { body: second } = await add(ann, 'plan.txt', 'second', { replace: true })
  const versions = `/api/files/${first.id}/versions`

  const restored = await ann.post(`${versions}/${first.rev}/restore`)

  expect(restored.status).toBe(204)
  const { body: current } = await ann.get(`/api/files/${first.id}`)
  expect(current.size).toBe('3')
  expect((await ann.get(`${versions}/${second.rev}`)).body.size).toBe('6')
  expect((await ann.delete(`${versions}/${current.rev}`)).status).toBe(400)
  expect((await ann.delete(`${versions}/${second.rev}`)).status).toBe(204)
  expect((await ann.get(versions)).body.count).toBe('2')
  expect((await ann.get(`${versions}/${second.rev}`)).status).toBe(404)
})

test('new content replaces the old one, which stays as a version only if asked for', async () => {
  await using server = await startServer()
  const { ann, add } = await withFiles(server)
  const { body: file } = await add(ann, 'plan.txt', 'one')
  const blobs = await Promise.all(['two', 'three'].map(content => upload(ann, { name: 'x.txt', content })))

  await ann.patch(`/api/files/${file.id}`, { blob_id: blobs[0]!.body.id })
  const { body: updated } = await ann.patch(`/api/files/${file.id}`, { blob_id: blobs[1]!.body.id, backup: true })

  expect(updated).toMatchObject({ name: 'plan.txt', size: '5', updated_by: { id: ann.id } })
  const { body: versions } = await ann.get(`/api/files/${file.id}/versions`)
  expect(versions.data.map(({ size }: { size: string }) => size)).toEqual(['5', '3'])
  expect((await ann.get(`/api/files/${file.id}/versions/${file.rev}`)).status).toBe(404)
})

test('a renamed file has a new name and kind, and no new version', async () => {
  await using server = await startServer()
  const { ann, add } = await withFiles(server)
  const { body: file } = await add(ann, 'plan.txt')
  await add(ann, 'other.txt')

  const { status, body } = await ann.patch(`/api/files/${file.id}`, {
    name: 'plan.md',
    tags: ['a'],
    metadata: { n: 1 },
  })

  expect(status).toBe(200)
  expect(body).toMatchObject({ name: 'plan.md', kind: 'text', rev: file.rev, preview_format: 'html', tags: ['a'] })
  const taken = await ann.patch(`/api/files/${file.id}`, { name: 'OTHER.txt' })
  expect([taken.status, taken.body.detail]).toEqual([409, 'A file named "other.txt" already exists.'])
})

test('a trashed file frees its name, and comes back only while the name is free', async () => {
  await using server = await startServer()
  const { app, ann, ben, add } = await withFiles(server)
  const { body: file } = await add(ann, 'plan.txt')

  await ann.post(`/api/files/${file.id}/trash`)
  const { body: other } = await add(ann, 'plan.txt')

  expect((await ann.get(`/api/files/${file.id}`)).status).toBe(404)
  expect((await ann.get(`/api/files/${file.id}?trashed=true`)).body.is_trashed).toBe(true)
  expect((await ben.get(`/api/files/${file.id}?trashed=true`)).status).toBe(404)
  expect((await ann.get(`/api/apps/${app}/files?trashed=null&count_only=true`)).body.count).toBe('2')
  expect((await ben.get(`/api/apps/${app}/files?trashed=null&count_only=true`)).body.count).toBe('1')
  const early = await ann.post(`/api/files/${file.id}/restore`)
  expect([early.status, early.body.detail]).toEqual([409, 'A file named "plan.txt" already exists.'])
  await ann.delete(`/api/files/${other.id}`)
  expect((await ann.post(`/api/files/${file.id}/restore`)).status).toBe(204)
  expect((await ann.get(`/api/apps/${app}/files`)).body).toMatchObject({ count: '1', data: [{ id: file.id }] })
})

test('readers read, and change nothing; strangers see nothing', async () => {
  await using server = await startServer()
  const { app, ann, ben, eve, add } = await withFiles(server)
  const { body: file } = await add(ann, 'plan.txt')
  const { body: blob } = await upload(ben, { name: 'b.txt', content: 'x' })
  const attempts = (by: Client) =>
    Promise.all([
      by.get(`/api/files/${file.id}`),
      by.post(`/api/apps/${app}/files`, { blob_id: blob.id }),
      by.patch(`/api/files/${file.id}`, { name: 'x.txt' }),
      by.post(`/api/files/${file.id}/trash`),
      by.delete(`/api/files/${file.id}`),
    ])

  const [reader, stranger] = [await attempts(ben), await attempts(eve)]

  expect(reader.map(({ status }) => status)).toEqual([200, 403, 403, 403, 403])
  // The blob is not Eve's either, which she is told first.
  expect(stranger.map(({ status }) => status)).toEqual([404, 422, 404, 404, 404])
})

test('files are made of blobs of the caller, in files apps alone', async () => {
  await using server = await startServer()
  const { app, ann, ben } = await withFiles(server)
  const { body: chat } = await ann.post('/api/apps', { type: 'chat' })
  const { body: own } = await upload(ann, { name: 'a.txt', content: 'x' })
  const { body: foreign } = await upload(ben, { name: 'b.txt', content: 'x' })

  const answers = await Promise.all([
    ann.post(`/api/apps/${app}/files`, { blob_id: foreign.id }),
    ann.post(`/api/apps/${app}/files`, { blob_id: 999_999 }),
    ann.post(`/api/apps/${app}/files`, {}),
    ann.post(`/api/apps/${chat.id}/files`, { blob_id: own.id }),
  ])

  expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 400])
})

test('lists are sorted by name, size or time, and searched by name', async () => {
  await using server = await startServer()
  const { app, ann, add } = await withFiles(server)
  await add(ann, 'b-plan.txt', 'x')
  await add(ann, 'a report.txt', 'xxx')
  await add(ann, 'C.txt', 'xx')
  const names = async (query: string) =>
    (await ann.get(`/api/apps/${app}/files?${query}`)).body.data?.map(({ name }: { name: string }) => name)

  expect(await names('order_by=name')).toEqual(['a report.txt', 'b-plan.txt', 'C.txt'])
  expect(await names('order_by=size+desc')).toEqual(['a report.txt', 'C.txt', 'b-plan.txt'])
  expect(await names('order_by=updated_at+desc&take=1&skip=2')).toHaveLength(1)
  expect(await names('q=pla')).toEqual(['b-plan.txt'])
  expect((await ann.get(`/api/apps/${app}/files?order_by=color`)).status).toBe(422)
  expect((await ann.get(`/api/files?app=${app}&count_only=true`)).body.count).toBe('3')
})

test('users subscribe to files, and end it', async () => {
  await using server = await startServer()
  const { ann, ben, add } = await withFiles(server)
  const { body: file } = await add(ann, 'plan.txt')

  const on = await ben.post(`/api/files/${file.id}/subscribe`)
  const off = await ann.post(`/api/files/${file.id}/unsubscribe`)

  expect([on.body.is_subscribed, off.body.is_subscribed]).toEqual([true, false])
  expect((await ben.get(`/api/files/${file.id}`)).body.is_subscribed).toBe(true)
})

test('creating a file twice with one Idempotency-Key makes one file', async () => {
  await using server = await startServer()
  const { app, ann } = await withFiles(server)
  const { body: blob } = await upload(ann, { name: 'a.txt', content: 'x' })
  const create = () => ann.post(`/api/apps/${app}/files`, { blob_id: blob.id }, { 'idempotency-key': 'once' })

  const [first, second] = [await create(), await create()]

  expect(second).toMatchObject({ status: 201, body: first.body })
})

test('files that are kept elsewhere have their links, and one version', async () => {
  await using server = await startServer()
  const { app, ann } = await withFiles(server)
  const elsewhere = { provider: 'Box', link: 'https://box.example/1', embed: 'https://box.example/e/1' }
  const { body: blob } = await ann.post('/api/blobs/external', { ...elsewhere, name: 'Deck.pptx', size: 9 })

  const { body: file } = await ann.post(`/api/apps/${app}/files`, { blob_id: blob.id })

  expect(file).toMatchObject({
    provider: 'Box',
    kind: 'presentation',
    external_url: elsewhere.link,
    embed_url: elsewhere.embed,
    preview_format: 'embed',
    preview_url: elsewhere.embed,
  })
  expect(file.download_url).toBeUndefined()
  expect((await ann.get(`/api/files/${file.id}/versions`)).body.count).toBe('1')
})

test('a file that is replaced by one elsewhere has its versions again when it is kept here', async () => {
  await using server = await startServer()
  const { app, ann, add } = await withFiles(server)
  const { body: file } = await add(ann, 'Deck.pptx')
  const elsewhere = { provider: 'Box', link: 'https://box.example/1', name: 'Deck.pptx', size: 9 }
  const { body: blob } = await ann.post('/api/blobs/external', elsewhere)
  const { body: here } = await upload(ann, { name: 'Deck.pptx', content: 'back' })
  const versions = `/api/files/${file.id}/versions`

  await ann.post(`/api/apps/${app}/files`, { blob_id: blob.id, replace: true })
  const hidden = [
    await ann.get(`${versions}/${file.rev}`),
    await ann.post(`${versions}/${file.rev}/restore`),
    await ann.delete(`${versions}/${file.rev}`),
  ]
  const { body: alone } = await ann.get(versions)
  await ann.post(`/api/apps/${app}/files`, { blob_id: here.id, replace: true })

  expect(hidden.map(({ status }) => status)).toEqual([404, 404, 404])
  expect(alone).toMatchObject({ count: '1', data: [{ provider: 'Box' }] })
  expect((await ann.get(versions)).body.count).toBe('3')
})

test('comments on a file count there, and go with it', async () => {
  await using server = await startServer()
  const { ann, add } = await withFiles(server)
  const { body: file } = await add(ann, 'plan.txt')

  const { status, body: comment } = await ann.post(`/api/files/${file.id}/comments`, { text: 'Looks good' })

  expect(status).toBe(201)
  expect((await ann.get(`/api/files/${file.id}`)).body.comments).toEqual({ count: '1' })
  await ann.delete(`/api/files/${file.id}`)
  expect((await ann.get(`/api/comments/${comment.id}`)).status).toBe(404)
})

test('whoever can read an app can read the blobs of its files', async () => {
  await using server = await startServer()
  const { app, ann, ben, eve } = await withFiles(server)
  const { body: blob } = await upload(ann, { name: 'a.txt', content: 'x' })
  await ann.post(`/api/apps/${app}/files`, { blob_id: blob.id })

  const answers = await Promise.all([ben, eve].map(person => person.get(`/api/blobs/${blob.id}`)))

  expect(answers.map(({ status }) => status)).toEqual([200, 404])
})
