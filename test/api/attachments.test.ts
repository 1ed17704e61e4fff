import { expect, test } from 'vitest'
import type { Body, Client } from '../support/client.ts'
import { appOf, create, idsIn } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { listen } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

const put = async (by: Client, name: string): Promise<string> => (await upload(by, { name, content: name })).body.id
/** What everybody sees alike: apps have another name for everybody. */
const withoutApps = (list: Body) => ({ ...list, data: list.data.map(({ app: _, ...file }: Body) => file) })
const namesIn = (list: Body): string[] => (list?.data ?? []).map(({ name }: Body) => name)

test('uploaded blobs become the attachments of an item, in their order', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const blobs = [await put(ann, 'b.txt'), await put(ann, 'a.txt')]
  await using inbox = await listen(server.url, { token: ben.token })
  await inbox.subscribe(app)

  const made = await ann.post(`/api/apps/${app}/messages`, { blobs })
  const [heard] = await inbox.take(1)

  expect(made.status).toBe(201)
  const { attachments } = made.body
  expect(attachments).toMatchObject({ start: '0', end: '2', count: '2' })
  expect(attachments.data).toMatchObject([
    {
      name: 'b.txt',
      app: { id: app },
      parent: { id: made.body.id, type: 'message' },
      created_by: { id: ann.id },
      size: '5',
    },
    { name: 'a.txt', app: made.body.app },
  ])
  const seen = [
    (await ben.get(`/api/messages/${made.body.id}`)).body.attachments,
    (await ben.get(`/api/apps/${app}/messages?out=details`)).body.data[0].attachments,
  ]
  expect(seen.map(withoutApps)).toEqual([withoutApps(attachments), withoutApps(attachments)])
  expect(namesIn((await ben.get(`/api/messages/${made.body.id}/attachments`)).body)).toEqual(['b.txt', 'a.txt'])
  expect(namesIn((await ben.get(`/api/messages/${made.body.id}/attachments?order_by=name&take=1`)).body)).toEqual([
    'a.txt',
  ])
  expect(namesIn(heard.message.attachments)).toEqual(['b.txt', 'a.txt'])
  expect(await (await fetch(attachments.data[0].download_url)).text()).toBe('b.txt')
})

test('an edit keeps the attachments that it names and adds new ones', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const app = await appOf(server, 'posts', [ann])
  const post = await create(ann, `/api/apps/${app}/posts`, {
    text: 'Files',
    blobs: [await put(ann, '1'), await put(ann, '2'), await put(ann, '3')],
  })
  const [first, , third] = post.attachments.data
  const edit = (change: object) => ann.patch(`/api/posts/${post.id}`, change)

  const untouched = await edit({ text: 'Still' })
  const changed = await edit({ attachments: [third.id, first.id], blobs: [await put(ann, '4')] })
  const foreign = await edit({ attachments: ['999999'] })
  const emptied = await edit({ text: '', attachments: [] })
  const bare = await edit({ attachments: [] })

  expect(namesIn(untouched.body.attachments)).toEqual(['1', '2', '3'])
  expect(namesIn(changed.body.attachments)).toEqual(['1', '3', '4'])
  expect([foreign.status, foreign.body.errors.attachments.length]).toEqual([422, 1])
  expect(emptied.status).toBe(422)
  expect(bare.body.attachments).toEqual({ start: '0', end: '0', count: '0' })
  expect((await ann.get(`/api/files/${first.id}`)).status).toBe(404)
})

test('only blobs of one’s own can be attached, and no more than fifty', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const blob = await put(ann, 'a')
  const send = (who: Client, blobs: unknown) => who.post(`/api/apps/${app}/messages`, { text: 'Hi', blobs })

  const refused = [await send(ben, [blob]), await send(ann, ['999999']), await send(ann, Array(51).fill(blob))]
  const byKey = await send(server.admin, [blob])
  const none = await send(ann, [])
  const most = await send(ann, await Promise.all(Array.from({ length: 50 }, () => put(ann, 'a'))))
  const more = await ann.patch(`/api/messages/${most.body.id}`, { blobs: [blob] })

  expect(refused.map(({ status, body }) => [status, 'blobs' in body.errors])).toEqual(refused.map(() => [422, true]))
  expect([byKey.status, none.status, most.status]).toEqual([201, 201, 201])
  expect(most.body.attachments.count).toBe('50')
  expect(more.status).toBe(422)
})

test('attachments are hidden with their item, and go with it', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'Hi', blobs: [await put(ann, 'a')] })
  const comment = await create(ben, `/api/posts/${post.id}/comments`, { blobs: [await put(ben, 'b')] })
  const files = [post.attachments.data[0].id, comment.attachments.data[0].id]
  const see = () => Promise.all(files.map(async id => (await ben.get(`/api/files/${id}`)).status))
  for (const id of files) await ann.post(`/api/files/${id}/stars`)

  const before = await see()
  await ann.post(`/api/posts/${post.id}/trash`)
  const hidden = await see()
  const starredThen = await ann.get('/api/stars')
  await ann.post(`/api/posts/${post.id}/restore`)
  const starred = await ann.get('/api/stars')
  const marked = await ann.get(`/api/posts/${post.id}`)
  await ann.delete(`/api/posts/${post.id}`)

  expect([before, hidden]).toEqual([
    [200, 200],
    [404, 404],
  ])
  expect(idsIn(starredThen)).toEqual([])
  expect(idsIn(starred)).toEqual(files.toReversed())
  expect(marked.body.attachments.data[0].is_starred).toBe(true)
  expect(await see()).toEqual([404, 404])
  await eventually(async () => {
    for (const table of ['files', 'file_versions', 'stars']) {
      expect(await database.sql`select * from ${database.sql(table)}`).toEqual([])
    }
  })
})

test('an attachment is not trashed, changed or deleted by itself', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const message = await create(ann, `/api/apps/${app}/messages`, { text: 'Hi', blobs: [await put(ann, 'a')] })
  const path = `/api/files/${message.attachments.data[0].id}`

  const answers = await Promise.all([ben.post(`${path}/trash`), ben.patch(path, { name: 'b' }), ben.delete(path)])

  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(answers.map(() => [400, 'file-is-attachment']))
  const { body: messages } = await ann.get(`/api/apps/${app}/messages?out=details`)
  expect(messages).toMatchObject({ count: '1', data: [{ attachments: { count: '1', data: [{ name: 'a' }] } }] })
})

test('an attachment takes no comments of its own', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const app = await appOf(server, 'posts', [ann])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'Hi', blobs: [await put(ann, 'a')] })
  const path = `/api/files/${post.attachments.data[0].id}/comments`

  const created = await ann.post(path, { text: 'Nice' })
  const listed = await ann.get(path)

  expect([created.status, created.body.code]).toEqual([400, 'file-is-attachment'])
  expect([listed.status, listed.body]).toEqual([200, { start: '0', end: '0', count: '0' }])
})

test('a file is starred like anything else in an app', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'files', [ann, ben])
  const file = await create(ann, `/api/apps/${app}/files`, { blob_id: await put(ann, 'a.txt') })

  const star = await ben.post(`/api/files/${file.id}/stars`)
  const listed = await ben.get('/api/stars')
  const read = await ben.get(`/api/files/${file.id}`)
  await ann.post(`/api/files/${file.id}/trash`)
  const inTrash = await ben.get('/api/stars')
  await ann.post(`/api/files/${file.id}/restore`)
  const back = await ben.delete(`/api/files/${file.id}/stars`)

  expect([star.status, star.body]).toEqual([200, { id: file.id, type: 'file' }])
  expect(listed.body.data).toEqual([{ id: file.id, type: 'file' }])
  expect(read.body.is_starred).toBe(true)
  expect(inTrash.body.count).toBe('0')
  expect(back.status).toBe(200)
  expect((await ben.get('/api/stars')).body.count).toBe('0')
})
