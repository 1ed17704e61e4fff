import { expect, test } from 'vitest'
import { appOf, create } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { kitHeaders } from '../support/kit.ts'
import { listen } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'

test('a reaction shows on the item with who gave it, and in its list', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const { id } = await create(ann, `/api/apps/${app}/messages`, { text: 'Hi' })

  const first = await ben.post(`/api/messages/${id}/reactions`, { content: '😍' })
  const second = await ann.post(`/api/messages/${id}/reactions`, { content: '👍🏽' })

  expect([first.status, second.status]).toEqual([204, 204])
  const { reactions } = (await ann.get(`/api/messages/${id}`)).body
  expect(reactions).toMatchObject({ start: '0', end: '2', count: '2' })
  expect(reactions.data[0]).toMatchObject({ content: '😍', created_by: { id: ben.id, name: 'Ben' } })
  expect(reactions.data[1]).toMatchObject({ content: '👍🏽', created_by: { id: ann.id } })
  expect((await ann.get(`/api/messages/${id}/reactions?out=details`)).body).toEqual(reactions)
  expect((await ann.get(`/api/messages/${id}/reactions?content=${encodeURIComponent('😍')}`)).body.count).toBe('1')
  expect((await ann.get(`/api/messages/${id}/reactions?content=x&take=1`)).body.count).toBe('0')
})

test('a list of messages brings the reactions of each, from memory and from the database alike', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const plain = await create(ann, `/api/apps/${app}/messages`, { text: 'Hi' })
  const liked = await create(ann, `/api/apps/${app}/messages`, { text: 'Hi' })
  await ben.post(`/api/messages/${liked.id}/reactions`, { content: '👍' })

  for (const query of ['', '&q=hi']) {
    const { data } = (await ann.get(`/api/apps/${app}/messages?out=details${query}`)).body
    expect(data[0]).toMatchObject({ id: plain.id, reactions: { count: '0' } })
    expect(data[1]).toMatchObject({ id: liked.id, reactions: { count: '1', data: [{ content: '👍' }] } })
  }
})

test('another emoji takes the place of the first, and the same one changes nothing', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const { id } = await create(ann, `/api/apps/${app}/messages`, { text: 'Hi' })
  await using inbox = await listen(server.url, { token: ann.token })
  await inbox.subscribe(app)

  for (const content of ['😍', '😍', '👍']) await ben.post(`/api/messages/${id}/reactions`, { content })
  await ben.delete(`/api/messages/${id}/reactions`)
  const heard = await inbox.take(4)

  expect(heard.map(({ event, reaction }) => [event, reaction])).toEqual([
    ['reaction_added', '😍'],
    ['reaction_removed', '😍'],
    ['reaction_added', '👍'],
    ['reaction_removed', '👍'],
  ])
  expect(heard[0]).toMatchObject({ entity: { id, type: 'message', app: { id: app } }, actor: { id: ben.id } })
  expect((await ann.get(`/api/messages/${id}`)).body.reactions).toEqual({ start: '0', end: '0', count: '0' })
})

test('only a single emoji is a reaction', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const { id } = await create(ann, `/api/apps/${app}/messages`, { text: 'Hi' })
  const react = async (content: unknown) => (await ann.post(`/api/messages/${id}/reactions`, { content })).status

  const emoji = ['😀', '❤️', '❤', '👍🏿', '👩‍👩‍👧‍👦', '🏴‍☠️', '🇸🇪', '1️⃣', '☺️']
  const others = ['a', '1', '#', '', ' 😀', '😀😀', '😀a', '🇸', '\u200d', '©a', null, 1, ['😀'], '👍'.repeat(40)]

  for (const content of emoji) expect([content, await react(content)]).toEqual([content, 204])
  for (const content of others) expect([content, await react(content)]).toEqual([content, 422])
})

test.each([
  ['❤️‍🔥', '\u2764\u200d\u{1f525}'],
  ['1️⃣', '1\u20e3'],
  ['👁️‍🗨️', '\u{1f441}\u200d\u{1f5e8}'],
  ['👁️‍🗨️', '\u{1f441}\ufe0f\u200d\u{1f5e8}'],
  ['🕵🏽‍♂️', '\u{1f575}\u{1f3fd}\u200d\u2642'],
])('%s is itself without its selectors: %j', async (whole, sent) => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  const { id } = await create(ann, `/api/apps/${app}/messages`, { text: 'Hi' })

  const { status } = await ann.post(`/api/messages/${id}/reactions`, { content: sent })

  expect(status).toBe(204)
  expect((await ann.get(`/api/messages/${id}/reactions`)).body.data).toMatchObject([{ content: whole }])
})

test('a heart is the same heart with and without its selector', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const { id } = await create(ann, `/api/apps/${app}/messages`, { text: 'Hi' })

  await ann.post(`/api/messages/${id}/reactions`, { content: '❤' })
  await ben.post(`/api/messages/${id}/reactions`, { content: '❤️' })

  for (const heart of ['❤', '❤️']) {
    const { body } = await ann.get(`/api/messages/${id}/reactions?content=${encodeURIComponent(heart)}`)
    expect(body.data.map(({ content }: { content: string }) => content)).toEqual(['❤️', '❤️'])
  }
})

test('posts and comments take reactions as well', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'Hi' })
  const comment = await create(ben, `/api/posts/${post.id}/comments`, { text: 'Hi' })
  await using inbox = await listen(server.url, { token: ann.token })
  await inbox.subscribe(app)

  await ben.post(`/api/posts/${post.id}/reactions`, { content: '🎉' })
  await ann.post(`/api/comments/${comment.id}/reactions`, { content: '👏' })
  const [onPost, onComment] = await inbox.take(2)

  expect(onPost).toMatchObject({ entity: { id: post.id, type: 'post' }, reaction: '🎉' })
  const parent = { id: post.id, type: 'post' }
  expect(onComment).toMatchObject({ entity: { id: comment.id, type: 'comment', parent }, reaction: '👏' })
  expect((await ann.get(`/api/posts/${post.id}`)).body.reactions.count).toBe('1')
  expect((await ann.get(`/api/posts/${post.id}/comments?out=details`)).body.data[0].reactions.count).toBe('1')
})

test('reacting needs write access, a user, and an item that is there', async () => {
  await using server = await startServer()
  const [ann, reader, stranger] = [await server.person(), await server.person(), await server.person()]
  const app = await appOf(server, 'posts', [ann])
  await server.admin.put(`/api/apps/${app}/members/${reader.id}`, { access: 'read' })
  const { id } = await create(ann, `/api/apps/${app}/posts`, { text: 'Hi' })
  const trashed = await create(ann, `/api/apps/${app}/posts`, { text: 'Hi' })
  await ann.post(`/api/posts/${trashed.id}/trash`)
  const react = async (who: { post: typeof ann.post }, post: string) =>
    (await who.post(`/api/posts/${post}/reactions`, { content: '👍' })).status

  const statuses = [
    await react(reader, id),
    await react(stranger, id),
    await react(server.admin, id),
    await react(ann, trashed.id),
    await react(ann, '999999'),
    (await ann.delete(`/api/posts/${trashed.id}/reactions`, {})).status,
    (await ann.delete(`/api/posts/${id}/reactions`, {})).status,
  ]

  expect(statuses).toEqual([403, 404, 403, 404, 404, 404, 204])
  expect((await reader.get(`/api/posts/${id}/reactions`)).body.count).toBe('0')
  expect((await stranger.get(`/api/posts/${id}/reactions`)).status).toBe(404)
})

test('of many reactions an item brings the first hundred, and its list the rest', async () => {
  await using server = await startServer()
  const people = await Promise.all(Array.from({ length: 103 }, () => server.person()))
  const app = await appOf(server, 'posts', people)
  const { id } = await create(people[0]!, `/api/apps/${app}/posts`, { text: 'Hi' })

  await Promise.all(people.map(one => one.post(`/api/posts/${id}/reactions`, { content: '👍' })))

  const { reactions } = (await people[0]!.get(`/api/posts/${id}`)).body
  expect(reactions.data).toHaveLength(100)
  expect(reactions).toMatchObject({ start: '0', end: '100', count: '103' })
  const rest = (await people[0]!.get(`/api/posts/${id}/reactions?skip=100`)).body
  expect(rest.data).toHaveLength(3)
  const { reactions: counted } = (await people[0]!.get('/api/posts?out=details')).body.data[0]
  expect(counted.count).toBe('103')
})

test('the kit counts reactions itself: it gets all that an answer has room for, and always its own', async () => {
  await using database = await createDatabase()
  await using here = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await here.chatWith(1)
  const [ann] = people
  const [few, many] = [
    await create(ann, `/api/apps/${app}/messages`, { text: 'Hi' }),
    await create(ann, `/api/apps/${app}/messages`, { text: 'Hi' }),
  ]
  for (const [id, count] of [
    [few.id, 103],
    [many.id, 12_000],
  ]) {
    await database.sql`
      insert into reactions (item_id, user_id, id, app_id, content, created_at)
      select ${id}, 1000000 + i, i - 1000000, ${app}, '👍', now() from generate_series(1, ${count}::int) i`
    await database.sql`update messages set reaction_count = ${count} where id = ${id}`
  }
  await using there = await startServer({ DATABASE_URL: database.url })
  const { token } = ann
  await there.request('POST', `/api/messages/${many.id}/reactions`, { token, body: { content: '🎉' } })
  const ask = async (path: string, method = 'GET', body?: object) =>
    (await there.request(method, `/api/${path}`, { token, headers: kitHeaders, body })).body

  const page = await ask(`apps/${app}/messages`)
  const one = await ask(`messages/${many.id}`)
  const edited = await ask(`messages/${few.id}`, 'PATCH', { text: 'Hello' })
  const conversations = await ask('apps')
  const others = await there.request('GET', `/api/messages/${many.id}`, { token })

  const shown = [...page.data, one, edited, conversations.data[0].last_message].map(({ reactions }) => [
    reactions.count,
    reactions.data.length,
    reactions.data.at(-1).content,
  ])
  expect(shown).toEqual([
    [103, 103, '👍'],
    [12_001, 9_898, '🎉'],
    [12_001, 10_001, '🎉'],
    [103, 103, '👍'],
    [12_001, 100, '👍'],
  ])
  expect(others.body.reactions).toMatchObject({ start: '0', end: '100', count: '12001' })
})

test('somebody who was deleted goes on reacting as the deleted user', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const { id } = await create(ann, `/api/apps/${app}/messages`, { text: 'Hi' })
  await ben.post(`/api/messages/${id}/reactions`, { content: '👍' })

  await server.admin.delete(`/api/users/${ben.id}`)

  const { reactions } = (await ann.get(`/api/messages/${id}`)).body
  expect(reactions.data).toMatchObject([{ content: '👍', created_by: { id: '-1', name: 'Deleted user' } }])
})
