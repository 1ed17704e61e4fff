import { expect, test } from 'vitest'
import { appOf, create, idsIn } from '../support/content.ts'
import { startServer, type Person } from '../support/server.ts'

const starred = async (who: Person, query = '') => (await who.get(`/api/stars${query}`)).body

test('what somebody starred is listed newest first, and shows that it is starred to them alone', async () => {
  await using server = await startServer()
  const {
    app: room,
    people: [ann, ben],
  } = await server.chatWith(2)
  const feed = await appOf(server, 'posts', [ann, ben])
  const message = await create(ben, `/api/apps/${room}/messages`, { text: 'Hi' })
  const post = await create(ben, `/api/apps/${feed}/posts`, { text: 'Hi' })
  const comment = await create(ben, `/api/posts/${post.id}/comments`, { text: 'Hi' })
  const paths = [`apps/${room}`, `messages/${message.id}`, `posts/${post.id}`, `comments/${comment.id}`]

  const answers = []
  for (const path of paths) answers.push(await ann.post(`/api/${path}/stars`))

  const stars = [
    { id: room, type: 'app' },
    { id: message.id, type: 'message' },
    { id: post.id, type: 'post' },
    { id: comment.id, type: 'comment' },
  ]
  expect(answers.map(({ status, body }) => [status, body])).toEqual(stars.map(star => [200, star]))
  expect(await starred(ann)).toEqual({ data: stars.toReversed(), start: '0', end: '4', count: '4' })
  expect(await starred(ben)).toEqual({ start: '0', end: '0', count: '0' })
  for (const path of paths) {
    expect((await ann.get(`/api/${path}`)).body.is_starred).toBe(true)
    expect((await ben.get(`/api/${path}`)).body.is_starred).toBe(false)
    expect((await server.admin.get(`/api/${path}`)).body.is_starred).toBe(false)
  }
})

test('lists show which of their items the caller starred', async () => {
  await using server = await startServer()
  const {
    app: room,
    people: [ann, ben],
  } = await server.chatWith(2)
  const plain = await create(ben, `/api/apps/${room}/messages`, { text: 'Hi' })
  const bright = await create(ben, `/api/apps/${room}/messages`, { text: 'Hi' })
  await ann.post(`/api/messages/${bright.id}/stars`)
  await ann.post(`/api/apps/${room}/stars`)

  for (const query of ['', '?out=details', '?q=hi', '?q=hi&out=details']) {
    const { data } = (await ann.get(`/api/apps/${room}/messages${query}`)).body
    expect(data.map(({ id, is_starred }: { id: string; is_starred: boolean }) => [id, is_starred])).toEqual([
      [plain.id, false],
      [bright.id, true],
    ])
    expect((await ben.get(`/api/apps/${room}/messages${query}`)).body.data[1].is_starred).toBe(false)
  }
  expect((await ann.get('/api/apps')).body.data[0].is_starred).toBe(true)
  expect((await ann.get(`/api/apps/${room}`)).body.last_message.is_starred).toBe(true)
})

test('starring twice is starring once, and a star can be taken back', async () => {
  await using server = await startServer()
  const {
    app: room,
    people: [ann],
  } = await server.chatWith(1)
  const { id } = await create(ann, `/api/apps/${room}/messages`, { text: 'Hi' })

  for (const path of [`apps/${room}`, `messages/${id}`]) {
    for (let i = 0; i < 2; i++) expect((await ann.post(`/api/${path}/stars`)).status).toBe(200)
  }
  const twice = await starred(ann)
  for (const path of [`apps/${room}`, `messages/${id}`]) {
    for (let i = 0; i < 2; i++) expect((await ann.delete(`/api/${path}/stars`)).status).toBe(200)
  }

  expect(twice.count).toBe('2')
  expect((await starred(ann)).count).toBe('0')
  expect((await ann.get(`/api/messages/${id}`)).body.is_starred).toBe(false)
  expect((await ann.get(`/api/apps/${room}`)).body.is_starred).toBe(false)
})

test('what is in the trash, gone or no longer readable is left out, and comes back with its target', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const [feed, other] = [await appOf(server, 'posts', [ann, ben]), await appOf(server, 'posts', [ann, ben])]
  const publish = async (app: string) => (await create(ben, `/api/apps/${app}/posts`, { text: 'Hi' })).id as string
  const [kept, trashed, deleted, elsewhere] = [
    await publish(feed),
    await publish(feed),
    await publish(feed),
    await publish(other),
  ]
  const below = await create(ben, `/api/posts/${trashed}/comments`, { text: 'Hi' })
  for (const id of [kept, trashed, deleted, elsewhere]) await ann.post(`/api/posts/${id}/stars`)
  await ann.post(`/api/comments/${below.id}/stars`)
  await ann.post(`/api/apps/${other}/stars`)

  await ben.post(`/api/posts/${trashed}/trash`)
  await ben.delete(`/api/posts/${deleted}`)
  await server.admin.delete(`/api/apps/${other}/members/${ann.id}`)
  const fewer = await starred(ann)
  await ben.post(`/api/posts/${trashed}/restore`)
  await server.admin.put(`/api/apps/${other}/members/${ann.id}`, { access: 'read' })
  const again = await starred(ann)

  expect(fewer).toMatchObject({ data: [{ id: kept, type: 'post' }], count: '1' })
  expect(idsIn({ body: again })).toEqual([below.id, elsewhere, trashed, kept])
})

test('starring needs no more than read access, but a user', async () => {
  await using server = await startServer()
  const [ann, reader, stranger] = [await server.person(), await server.person(), await server.person()]
  const app = await appOf(server, 'posts', [ann])
  await server.admin.put(`/api/apps/${app}/members/${reader.id}`, { access: 'read' })
  const { id } = await create(ann, `/api/apps/${app}/posts`, { text: 'Hi' })

  const statuses = [
    (await reader.post(`/api/posts/${id}/stars`)).status,
    (await reader.post(`/api/apps/${app}/stars`)).status,
    (await stranger.post(`/api/posts/${id}/stars`)).status,
    (await stranger.post(`/api/apps/${app}/stars`)).status,
    (await reader.post('/api/posts/999999/stars')).status,
    (await server.admin.post(`/api/posts/${id}/stars`)).status,
    (await server.admin.get('/api/stars')).status,
  ]

  expect(statuses).toEqual([200, 200, 404, 404, 404, 403, 403])
})

test('stars are read in pages', async () => {
  await using server = await startServer()
  const ann = await server.person()
  const app = await appOf(server, 'posts', [ann])
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.push((await create(ann, `/api/apps/${app}/posts`, { text: 'Hi' })).id)
  for (const id of ids) await ann.post(`/api/posts/${id}/stars`)

  const page = await starred(ann, '?skip=1&take=2')
  const count = await starred(ann, '?count_only=true')
  const beyond = await starred(ann, '?skip=9')

  expect(page).toMatchObject({ start: '1', end: '3', count: '5' })
  expect(idsIn({ body: page })).toEqual([ids[3], ids[2]])
  expect(count).toEqual({ count: '5' })
  expect(beyond).toEqual({ start: '9', end: '9', count: '5' })
})
