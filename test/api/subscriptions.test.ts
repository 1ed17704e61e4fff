import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

test('whoever publishes a post is subscribed to it, and so is whoever comments on it', async () => {
  await using server = await startServer()
  const { app, ann, ben, eve } = await feed(server)

  const post = await ann.post(`/api/apps/${app}/posts`, { text: 'News' })
  const before = await isSubscribed(ben, post.body.id)
  const comment = await ben.post(`/api/posts/${post.body.id}/comments`, { text: 'Good' })

  expect(post.body).toMatchObject({ is_subscribed: true })
  expect(before).toBe(false)
  expect(comment.body).toMatchObject({ is_subscribed: true })
  expect(await isSubscribed(ben, post.body.id)).toBe(true)
  expect(await isSubscribed(eve, post.body.id)).toBe(false)
})

test('a subscription is chosen and ended, and comments show the one to their post', async () => {
  await using server = await startServer()
  const { app, ann, eve } = await feed(server)
  const { body: post } = await ann.post(`/api/apps/${app}/posts`, { text: 'News' })
  const { body: comment } = await ann.post(`/api/posts/${post.id}/comments`, { text: 'More' })

  const subscribed = await eve.post(`/api/posts/${post.id}/subscribe`)
  const list = await eve.get(`/api/apps/${app}/posts`)
  const whole = await eve.get(`/api/apps/${app}/posts?out=details`)
  const comments = await eve.get(`/api/posts/${post.id}/comments`)
  const one = await eve.get(`/api/comments/${comment.id}`)
  const ended = await eve.post(`/api/posts/${post.id}/unsubscribe`)

  expect(subscribed).toMatchObject({ status: 200, body: { id: post.id, is_subscribed: true } })
  for (const { body } of [list, whole, comments]) expect(body.data).toMatchObject([{ is_subscribed: true }])
  expect(one.body).toMatchObject({ is_subscribed: true })
  expect(ended).toMatchObject({ status: 200, body: { is_subscribed: false } })
  expect(await isSubscribed(eve, post.id)).toBe(false)
})

test('who has ended a subscription is not subscribed again by commenting', async () => {
  await using server = await startServer()
  const { app, ann, ben } = await feed(server)
  const { body: post } = await ann.post(`/api/apps/${app}/posts`, { text: 'News' })
  await ann.post(`/api/posts/${post.id}/unsubscribe`)
  await ben.post(`/api/posts/${post.id}/unsubscribe`)

  await ann.post(`/api/posts/${post.id}/comments`, { text: 'More' })
  await ben.post(`/api/posts/${post.id}/comments`, { text: 'Good' })
  const chosen = await ben.post(`/api/posts/${post.id}/subscribe`)

  expect(await isSubscribed(ann, post.id)).toBe(false)
  expect(chosen.body).toMatchObject({ is_subscribed: true })
})

test('who has ended a subscription to an app and joins it again is still not subscribed, on every node', async () => {
  await using database = await createDatabase()
  await using here = await startServer({ DATABASE_URL: database.url })
  await using there = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await here.chatWith(3)
  const ask = (server: Server) =>
    Promise.all(
      people.map(async ({ token }) => {
        const { body } = await server.request('GET', `/api/apps/${app}`, { token })
        return body.is_subscribed
      }),
    )
  const [ann, ben, eve] = people
  await ann.post(`/api/apps/${app}/unsubscribe`)
  await ben.post(`/api/apps/${app}/unsubscribe`)
  await eve.post(`/api/apps/${app}/unsubscribe`)
  await eve.post(`/api/apps/${app}/subscribe`)
  await eventually(async () => expect(await ask(there)).toEqual([false, false, true]))

  await ann.delete(`/api/apps/${app}/members/${ann.id}`)
  await here.admin.delete(`/api/apps/${app}/members/${ben.id},${eve.id}`)
  expect((await ann.get(`/api/apps/${app}`)).status).toBe(404)
  for (const { id } of people) await here.admin.put(`/api/apps/${app}/members/${id}`)

  // By the state that was there, by events, and by the rows.
  await using late = await startServer({ DATABASE_URL: database.url })
  expect(await ask(here)).toEqual([false, false, true])
  await eventually(async () => expect(await ask(there)).toEqual([false, false, true]))
  expect(await ask(late)).toEqual([false, false, true])
  expect((await ann.post(`/api/apps/${app}/subscribe`)).body).toMatchObject({ is_subscribed: true })
})

test('only what can be read can be subscribed to, and only by users', async () => {
  await using server = await startServer()
  const { app, ann } = await feed(server)
  const stranger = await server.person('Stranger')
  const { body: post } = await ann.post(`/api/apps/${app}/posts`, { text: 'News' })

  const hidden = await stranger.post(`/api/posts/${post.id}/subscribe`)
  const asKey = await server.admin.post(`/api/posts/${post.id}/subscribe`)
  await ann.post(`/api/posts/${post.id}/trash`)
  const trashed = await ann.post(`/api/posts/${post.id}/subscribe`)
  const unknown = await ann.post('/api/posts/999999/subscribe')

  expect([hidden, asKey, trashed, unknown].map(({ status }) => status)).toEqual([404, 403, 404, 404])
})

test('messages and posts show that of their app apart from that of the post', async () => {
  await using server = await startServer()
  const { app, ann, ben } = await feed(server)
  const { body: room } = await ann.post('/api/apps', { type: 'chat_room', members: [ben.id] })
  const { body: message } = await ann.post(`/api/apps/${room.id}/messages`, { text: 'Hello' })
  const { body: post } = await ann.post(`/api/apps/${app}/posts`, { text: 'News' })

  const toFeed = await ben.post(`/api/apps/${app}/subscribe`)
  const ofRoom = await ben.post(`/api/apps/${room.id}/unsubscribe`)

  expect(toFeed.body).toMatchObject({ is_subscribed: true })
  expect(ofRoom.body).toMatchObject({ is_subscribed: false })
  expect(await isSubscribed(ben, post.id)).toBe(false)
  expect((await ben.get(`/api/messages/${message.id}`)).body).toMatchObject({ is_subscribed: false })
  expect((await ann.get(`/api/messages/${message.id}`)).body).toMatchObject({ is_subscribed: true })
})

/** A feed in which three people may write. */
async function feed({ admin, person }: Server): Promise<{ app: string; ann: Person; ben: Person; eve: Person }> {
  const [ann, ben, eve] = await Promise.all([person('Ann'), person('Ben'), person('Eve')])
  const { body } = await admin.post('/api/apps', { type: 'posts', members: [ann.id, ben.id, eve.id] })
  return { app: body.id, ann, ben, eve }
}

async function isSubscribed(person: Person, post: string): Promise<boolean> {
  return (await person.get(`/api/posts/${post}`)).body.is_subscribed
}
