import { expect, test } from 'vitest'
import { appOf, create, idsIn } from '../support/content.ts'
import { listen } from '../support/realtime.ts'
import { startServer, type Person } from '../support/server.ts'

const say = async (who: Person, path: string, text = 'A comment'): Promise<string> =>
  (await create(who, `/api/${path}/comments`, { text })).id

test('a comment names its post and counts there', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'A post' })

  const made = await ben.post(`/api/posts/${post.id}/comments`, { text: 'A *comment*' })

  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({
    app: { id: app },
    parent: { id: post.id, type: 'post' },
    html: '<p>A <em>comment</em></p>',
    created_by: { id: ben.id },
  })
  expect((await ben.get(`/api/comments/${made.body.id}`)).body).toMatchObject({ parent: { id: post.id, type: 'post' } })
  expect((await ann.get(`/api/posts/${post.id}`)).body.comments).toEqual({ count: '1' })
  expect((await ann.get(`/api/apps/${app}/posts?out=details`)).body.data[0].comments).toEqual({ count: '1' })
})

test('comments on a post are read oldest first, and from any place', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const app = await appOf(server, 'posts', [ann])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'A post' })
  const ids: string[] = []
  for (let i = 0; i < 6; i++)
    ids.push(await say(ann, `posts/${post.id}`, `Comment ${i} about ${i % 2 ? 'odd' : 'even'}`))
  const list = (query: string) => ann.get(`/api/posts/${post.id}/comments?${query}`)

  const all = await list('')
  const second = await list('skip=2&take=2')
  const newest = await list('order_by=id+desc&take=2')
  const around = await list(`around=${ids[4]}&take=3`)
  const found = await list('q=odd')
  const count = await list('count_only=true')

  expect(idsIn(all)).toEqual(ids)
  expect(all.body.data[0]).not.toHaveProperty('parent')
  expect(idsIn(second)).toEqual([ids[2], ids[3]])
  expect(second.body).toMatchObject({ start: '2', end: '4', count: '6' })
  expect(idsIn(newest)).toEqual([ids[5], ids[4]])
  expect(idsIn(around)).toEqual([ids[3], ids[4], ids[5]])
  expect(idsIn(found)).toEqual([ids[1], ids[3], ids[5]])
  expect(count.body).toEqual({ count: '6' })
})

test('an app for comments holds them directly', async () => {
  await using server = await startServer()
  const [ann, stranger] = [await server.person('Ann'), await server.person('Eve')]
  const app = await appOf(server, 'comments', [ann])

  const made = await ann.post(`/api/apps/${app}/comments`, { text: 'First' })
  const second = await say(ann, `apps/${app}`)
  const list = await ann.get(`/api/apps/${app}/comments`)

  expect(made.status).toBe(201)
  expect(made.body).not.toHaveProperty('parent')
  expect(idsIn(list)).toEqual([made.body.id, second])
  expect((await stranger.get(`/api/apps/${app}/comments`)).status).toBe(404)
  expect((await stranger.post(`/api/apps/${app}/comments`, { text: 'Hi' })).status).toBe(404)
  expect((await stranger.get(`/api/comments/${second}`)).status).toBe(404)
})

test('comments of all apps come in one list, those on posts too', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const shared = await appOf(server, 'comments', [ann, ben])
  const feed = await appOf(server, 'posts', [ann])
  const post = await create(ann, `/api/apps/${feed}/posts`, { text: 'A post' })
  const [direct, onPost] = [await say(ben, `apps/${shared}`), await say(ann, `posts/${post.id}`)]

  const ofAnn = await ann.get('/api/comments')
  const ofBen = await ben.get('/api/comments')
  const details = await ann.get('/api/comments?out=details&order_by=id+desc')

  expect(idsIn(ofAnn)).toEqual([direct, onPost])
  expect(idsIn(ofBen)).toEqual([direct])
  expect(details.body.data[0]).toMatchObject({ id: onPost, parent: { id: post.id, type: 'post' }, app: { id: feed } })
})

test('comments are not commented, and what is not there cannot be either', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const app = await appOf(server, 'comments', [ann])
  const comment = await say(ann, `apps/${app}`)

  const statuses = await Promise.all(
    [`/api/comments/${comment}/comments`, '/api/posts/999999/comments', '/api/posts/abc/comments'].map(
      async path => (await ann.post(path, { text: 'Hi' })).status,
    ),
  )

  expect(statuses).toEqual([404, 404, 404])
})

test('whoever may only read does not comment, and nobody comments with nothing', async () => {
  await using server = await startServer()
  const [ann, reader] = [await server.person('Ann'), await server.person('Reader')]
  const app = await appOf(server, 'posts', [ann], { access: 'read' })
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'A post' })

  const refused = await reader.post(`/api/posts/${post.id}/comments`, { text: 'Hi' })
  const empty = await ann.post(`/api/posts/${post.id}/comments`, { text: ' \n ' })

  expect(refused.status).toBe(403)
  expect(empty.status).toBe(422)
  expect((await reader.get(`/api/posts/${post.id}/comments`)).body.count).toBe('0')
})

test('a comment in the trash does not count until it comes back, and one that is deleted never does', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'A post' })
  const [first, second] = [await say(ben, `posts/${post.id}`), await say(ben, `posts/${post.id}`)]
  const counts: string[] = []
  const count = async () => counts.push((await ann.get(`/api/posts/${post.id}`)).body.comments.count)

  await count()
  await ben.post(`/api/comments/${first}/trash`)
  await ben.post(`/api/comments/${first}/trash`)
  await count()
  await ben.post(`/api/comments/${first}/restore`)
  await ben.patch(`/api/comments/${first}`, { text: 'Edited' })
  await count()
  await ben.delete(`/api/comments/${second}`)
  await ben.post(`/api/comments/${first}/trash`)
  await ben.delete(`/api/comments/${first}`)
  await count()

  expect(counts).toEqual(['2', '1', '2', '0'])
})

test('the author sees a comment in the trash, and others do not', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'A post' })
  const comment = await say(ben, `posts/${post.id}`)

  await ben.post(`/api/comments/${comment}/trash`)

  expect((await ben.get(`/api/comments/${comment}`)).status).toBe(404)
  expect((await ben.get(`/api/comments/${comment}?trashed=true`)).body).toMatchObject({ is_trashed: true })
  expect((await ann.get(`/api/comments/${comment}?trashed=true`)).status).toBe(404)
  expect(idsIn(await ben.get(`/api/posts/${post.id}/comments?trashed=true`))).toEqual([comment])
  expect(idsIn(await ann.get(`/api/posts/${post.id}/comments?trashed=null`))).toEqual([])
  expect((await ann.delete(`/api/comments/${comment}`)).status).toBe(404)
})

test('everybody in the app hears of comments, with what they are about', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'A post' })
  await using inbox = await listen(server.url, { token: ann.token })
  await inbox.subscribe(app)

  const comment = await say(ben, `posts/${post.id}`, 'Hello')
  await ben.patch(`/api/comments/${comment}`, { text: 'Hello!' })
  await ben.delete(`/api/comments/${comment}`)
  const heard = await inbox.take(3)

  expect(heard.map(({ event }) => event)).toEqual(['comment_created', 'comment_updated', 'comment_deleted'])
  const parent = { id: post.id, type: 'post' }
  expect(heard[0].comment).toMatchObject({
    id: comment,
    plain: 'Hello',
    parent,
    app: { id: app },
    created_by: { id: ben.id },
  })
  expect(heard[1].comment).toMatchObject({ id: comment, plain: 'Hello!', parent })
  expect(heard[2].comment).toMatchObject({ id: comment, parent, app: { id: app } })
})

test('a comment that is sent twice under one key is made once', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const app = await appOf(server, 'posts', [ann])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'A post' })
  const send = () =>
    ann.post(`/api/posts/${post.id}/comments`, { text: 'Once', options: [{ text: 'A' }] }, { 'idempotency-key': 'k' })

  const [first, second] = [await send(), await send()]

  expect(second.status).toBe(201)
  expect(second.body.id).toBe(first.body.id)
  expect(second.body.options).toEqual(first.body.options)
  expect((await ann.get(`/api/posts/${post.id}`)).body.comments).toEqual({ count: '1' })
})

test('two who comment at once both count', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'A post' })

  await Promise.all(Array.from({ length: 20 }, (_, i) => say(i % 2 ? ann : ben, `posts/${post.id}`)))

  expect((await ann.get(`/api/posts/${post.id}`)).body.comments).toEqual({ count: '20' })
  expect((await ann.get(`/api/posts/${post.id}/comments?count_only=true`)).body).toEqual({ count: '20' })
})
