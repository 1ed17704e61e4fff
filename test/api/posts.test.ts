import { expect, test } from 'vitest'
import { appOf, create, idsIn } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer, type Person } from '../support/server.ts'

const publish = async (who: Person, app: string, text = 'A post'): Promise<string> =>
  (await create(who, `/api/apps/${app}/posts`, { text })).id

test('a post comes back whole, and its feed lists summaries with the newest first', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const app = await appOf(server, 'posts', [ann])

  const made = await ann.post(`/api/apps/${app}/posts`, { text: '**Hello**', tags: ['news'], metadata: { a: 1 } })
  const later = await publish(ann, app)
  const read = await ann.get(`/api/posts/${made.body.id}`)
  const { body: list } = await ann.get(`/api/apps/${app}/posts`)

  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({
    app: { id: app, type: '5ebfa152-de85-48da-82dd-30a1b560c313' },
    text: '**Hello**',
    html: '<p><strong>Hello</strong></p>',
    plain: 'Hello',
    tags: ['news'],
    metadata: { a: 1 },
    comments: { count: '0' },
    created_by: { id: ann.id },
    is_starred: false,
    is_trashed: false,
  })
  expect(made.body).not.toHaveProperty('updated_at')
  expect(read.body).toEqual({ ...made.body, app: read.body.app })
  expect(list).toMatchObject({ start: '0', end: '2', count: '2' })
  expect(idsIn({ body: list })).toEqual([later, made.body.id])
  expect(list.data[1]).not.toHaveProperty('created_by')
})

test('posts belong into apps for posts alone, and messages and comments do not belong there', async () => {
  await using server = await startServer()
  const {
    app: room,
    people: [ann],
  } = await server.chatWith(1)
  const feed = await appOf(server, 'posts', [ann])

  const refused = [
    await ann.post(`/api/apps/${room}/posts`, { text: 'no' }),
    await ann.post(`/api/apps/${feed}/messages`, { text: 'no' }),
    await ann.post(`/api/apps/${feed}/comments`, { text: 'no' }),
  ]

  for (const { status, body } of refused) expect([status, body.code]).toEqual([400, 'wrong-app-type'])
  expect((await ann.get(`/api/apps/${feed}/messages`)).body).toEqual({ start: '0', end: '0', count: '0' })
})

test('a feed is read between two ids, and around one', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const app = await appOf(server, 'posts', [ann])
  const ids: string[] = []
  for (let i = 0; i < 7; i++) ids.push(await publish(ann, app))
  const list = (query: string) => ann.get(`/api/apps/${app}/posts?${query}`)

  const after = await list(`after=${ids[3]}`)
  const before = await list(`before=${ids[2]}&order_by=id`)
  const between = await list(`after=${ids[1]}&before=${ids[4]}`)
  const around = await list(`around=${ids[3]}&take=3`)
  const beginning = await list(`around=${ids[0]}&take=3&order_by=id`)
  const aroundNothing = await list('around=999999')

  expect(idsIn(after)).toEqual([ids[6], ids[5], ids[4]])
  expect(after.body.count).toBe('3')
  expect(idsIn(before)).toEqual([ids[0], ids[1]])
  expect(idsIn(between)).toEqual([ids[3], ids[2]])
  expect(idsIn(around)).toEqual([ids[4], ids[3], ids[2]])
  expect(around.body).toMatchObject({ start: '2', end: '5', count: '7' })
  expect(idsIn(beginning)).toEqual([ids[0], ids[1], ids[2]])
  expect(aroundNothing.status).toBe(404)
})

test('any 64-bit integer will do as a place in a feed', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const app = await appOf(server, 'posts', [ann])
  await publish(ann, app)
  const count = async (query: string) => (await ann.get(`/api/apps/${app}/posts?count_only=true&${query}`)).body

  const counts = [
    await count('after=-1784000000000'),
    await count('after=-9223372036854775808'),
    await count('after=9223372036854775807'),
    await count('before=9223372036854775807'),
    await count('before=-9223372036854775808'),
  ]
  const { status } = await ann.get(`/api/apps/${app}/posts?after=soon`)

  expect(counts).toEqual([{ count: '1' }, { count: '1' }, { count: '0' }, { count: '1' }, { count: '0' }])
  expect(status).toBe(422)
})

test('posts of several apps come in one list, without those that the caller may not read', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const first = await appOf(server, 'posts', [ann], { uid: 'first' })
  const second = await appOf(server, 'posts', [ann, ben])
  const open = await appOf(server, 'posts', [ann], { access: 'read' })
  const secret = await appOf(server, 'posts', [ann])
  const [a, b, c, d] = [
    await publish(ann, first),
    await publish(ann, second),
    await publish(ann, open),
    await publish(ann, secret),
  ]

  const all = await ben.get('/api/posts')
  const named = await ann.get(`/api/posts?app=first&app=${second}&app=nowhere`)
  const foreign = await ben.get(`/api/posts?app=${secret}&app=${open}`)
  const none = await ben.get('/api/posts?app=nowhere')
  const ofKey = await server.admin.get('/api/posts?order_by=id')

  expect(idsIn(all)).toEqual([c, b])
  expect(idsIn(named)).toEqual([b, a])
  expect(named.body.count).toBe('2')
  expect(idsIn(foreign)).toEqual([c])
  expect(none.body.count).toBe('0')
  expect(idsIn(ofKey)).toEqual([a, b, c, d])
})

test("the app filter narrows an app's own list down to itself or to nothing", async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const [feed, other] = [
    await appOf(server, 'posts', [ann], { uid: 'feed' }),
    await appOf(server, 'posts', [ann], { uid: 'other' }),
  ]
  const post = await publish(ann, feed)
  await publish(ann, other)

  const itself = await ann.get(`/api/apps/${feed}/posts?app=feed&order_by=id+desc&out=details&skip=0`)
  const both = await ann.get(`/api/apps/${feed}/posts?app=other&app=feed`)
  const nothing = await ann.get(`/api/apps/${feed}/posts?app=other`)

  expect(idsIn(itself)).toEqual([post])
  expect(itself.body.data[0]).toMatchObject({ created_by: { id: ann.id }, comments: { count: '0' }, app: { id: feed } })
  expect(idsIn(both)).toEqual([post])
  expect(nothing.body).toEqual({ start: '0', end: '0', count: '0' })
})

test('posts of apps that are in the trash or gone are in no list, not even for a key', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const [kept, trashed, deleted] = [
    await appOf(server, 'posts', [ann]),
    await appOf(server, 'posts', [ann]),
    await appOf(server, 'posts', [ann]),
  ]
  const post = await publish(ann, kept)
  await publish(ann, trashed)
  await publish(ann, deleted)

  await server.admin.post(`/api/apps/${trashed}/trash`)
  await server.admin.delete(`/api/apps/${deleted}`)

  for (const who of [ann, server.admin]) {
    const list = await who.get('/api/posts?out=details')
    expect(idsIn(list)).toEqual([post])
    expect(list.body.count).toBe('1')
    expect(idsIn(await who.get('/api/posts?q=post&trashed=null'))).toEqual([post])
  }
})

test('the author edits a post, nobody else does, and a key may', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const post = await publish(ann, app)

  const edited = await ann.patch(`/api/posts/${post}`, { text: 'Edited', tags: ['x'] })
  const foreign = await ben.patch(`/api/posts/${post}`, { text: 'Mine' })
  const emptied = await ann.patch(`/api/posts/${post}`, { text: null })
  const byKey = await server.admin.patch(`/api/posts/${post}`, { metadata: { checked: true } })

  expect(edited.body).toMatchObject({ text: 'Edited', tags: ['x'], updated_by: { id: ann.id } })
  expect(edited.body.updated_at).toBeDefined()
  expect([foreign.status, emptied.status]).toEqual([403, 422])
  expect(byKey.body).toMatchObject({ text: 'Edited', metadata: { checked: true }, updated_by: { id: '0' } })
})

test('a post in the trash is hidden with its comments, and comes back with them', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const post = await publish(ann, app)
  const comment = (await create(ben, `/api/posts/${post}/comments`, { text: 'Yes' })).id

  const trashing = await ann.post(`/api/posts/${post}/trash`)
  const hidden = [
    await ben.get(`/api/posts/${post}`),
    await ben.get(`/api/posts/${post}?trashed=true`),
    await ben.get(`/api/posts/${post}/comments`),
    await ben.get(`/api/comments/${comment}`),
    await ben.post(`/api/posts/${post}/comments`, { text: 'And?' }),
    await ben.patch(`/api/comments/${comment}`, { text: 'No' }),
    await ben.post(`/api/comments/${comment}/reactions`, { content: '👍' }),
  ]
  const listed = await ben.get('/api/comments')
  const mine = await ann.get(`/api/posts/${post}?trashed=true`)
  await ann.post(`/api/posts/${post}/restore`)

  expect(trashing.status).toBe(204)
  expect(hidden.map(({ status }) => status)).toEqual(hidden.map(() => 404))
  expect(listed.body.count).toBe('0')
  expect(mine.body).toMatchObject({ id: post, is_trashed: true })
  expect((await ben.get(`/api/comments/${comment}`)).body).toMatchObject({ id: comment, text: 'Yes' })
  expect((await ben.get('/api/comments')).body.count).toBe('1')
  expect((await ben.get(`/api/posts/${post}`)).body.comments).toEqual({ count: '1' })
})

test('deleting a post deletes its comments and all that hangs on them', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'Which?', options: [{ text: 'A' }, { text: 'B' }] })
  const comment = (await create(ben, `/api/posts/${post.id}/comments`, { text: 'Yes' })).id
  const trashed = (await create(ben, `/api/posts/${post.id}/comments`, { text: 'Hm' })).id
  await ben.post(`/api/comments/${trashed}/trash`)
  await ann.post(`/api/comments/${comment}/reactions`, { content: '👍' })
  await ann.post(`/api/posts/${post.id}/stars`)
  const [option] = post.options.data
  await ben.post(`/api/options/${option.id}/vote`)

  const { status } = await ann.delete(`/api/posts/${post.id}`)

  expect(status).toBe(204)
  const gone = [`posts/${post.id}`, `comments/${comment}`, `options/${option.id}`, `posts/${post.id}/comments`]
  for (const path of gone) expect((await ben.get(`/api/${path}`)).status).toBe(404)
  expect((await ben.get('/api/comments?trashed=null')).body.count).toBe('0')
  expect((await ann.get('/api/stars')).body.count).toBe('0')
  await eventually(async () => {
    for (const table of ['comments', 'reactions', 'votes', 'options', 'stars', 'deleted_parents']) {
      expect(await database.sql`select * from ${database.sql(table)}`).toEqual([])
    }
  })
})

test('somebody may read only the posts of people whom they follow', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
  const app = await appOf(server, 'posts', [ann, ben, eve])
  await publish(ann, app)
  const [first, second] = [await publish(ben, app), await publish(ben, app)]
  await publish(eve, app)

  await ann.post(`/api/users/${ben.id}/follow`)
  const everywhere = await ann.get('/api/posts?following=true')
  const inApp = await ann.get(`/api/apps/${app}/posts?following=true&after=${first}&count_only=true`)
  const nobody = await eve.get('/api/posts?following=true')
  const all = await ann.get('/api/posts?following=false')
  const byKey = await server.admin.get('/api/posts?following=true')

  expect(idsIn(everywhere)).toEqual([second, first])
  expect(inApp.body).toEqual({ count: '1' })
  expect([nobody.body.count, all.body.count]).toEqual(['0', '4'])
  expect(byKey.status).toBe(422)
})

test('the last feed pages come from as deep as there are posts', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const app = await appOf(server, 'posts', [ann])
  const ids: string[] = []
  for (let i = 0; i < 130; i++) ids.push(await publish(ann, app, `Post ${i}`))

  const oldest = await ann.get(`/api/apps/${app}/posts?skip=120&take=10`)
  const middle = await ann.get(`/api/posts?skip=60&take=3&order_by=id`)

  expect(idsIn(oldest)).toEqual(ids.slice(0, 10).reverse())
  expect(idsIn(middle)).toEqual(ids.slice(60, 63))
  expect(middle.body.count).toBe('130')
})
