import { expect, test } from 'vitest'
import { listen } from '../support/realtime.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

/** A chat room of the person's with this uid. */
async function makeRoom(server: Server, person: Person, uid: string): Promise<string> {
  const { body } = await server.admin.post('/api/apps', { type: 'chat_room', uid, members: [person.id] })
  return body.id
}

test('a client subscribes by uid, and the answer has the id and the uid', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const id = await makeRoom(server, ann, 'Garden')
  await using inbox = await listen(server.url, { token: ann.token })

  inbox.say({ type: 'subscribe', app: 'garden', request_id: 7 })
  expect(await inbox.hear('subscribed')).toMatchObject({ app_id: id, uid: 'Garden', request_id: '7' })

  await ann.post(`/api/apps/${id}/messages`, { text: 'hello' })
  expect(await inbox.hear('event')).toMatchObject({ app_id: id, message: { text: 'hello' } })

  inbox.say({ type: 'subscribe', app: id })
  expect(await inbox.hear('subscribed')).toMatchObject({ app_id: id, uid: 'Garden' })
})

test('of many apps in one frame each is answered for itself', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const ids = [await makeRoom(server, ann, 'one'), await makeRoom(server, ann, 'two')]
  const { app: foreign } = await server.chatWith(1)
  await using inbox = await listen(server.url, { token: ann.token })

  inbox.say({
    type: 'subscribe',
    apps: [
      { app_id: ids[0], request_id: 1 },
      { app: 'two', request_id: 2 },
      { app: 'three', request_id: 3 },
      { app_id: foreign, request_id: 4 },
      { app: foreign, request_id: 5 },
    ],
  })
  const subscribed = await inbox.take(2, 'subscribed')
  // The one by uid replaces the one by id before it is answered, or after.
  const errors = (await inbox.take(2, 'error')).sort((a, b) => a.request_id - b.request_id)

  expect(subscribed).toMatchObject([
    { app_id: ids[0], request_id: '1' },
    { app_id: ids[1], uid: 'two', request_id: '2' },
  ])
  expect(errors).toMatchObject([
    { app: 'three', request_id: '3', status: '404' },
    { app: foreign, request_id: '5', status: '404' },
  ])
  expect(errors[0]).not.toHaveProperty('app_id')
  await ann.post(`/api/apps/${ids[1]}/messages`, { text: 'here' })
  expect(await inbox.hear('event')).toMatchObject({ app_id: ids[1] })
})

test('what a frame says beside its apps holds for those that say nothing of their own', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const ids = [await makeRoom(server, ann, 'one'), await makeRoom(server, ann, 'two')]
  await using inbox = await listen(server.url, { token: ann.token })
  inbox.say({ type: 'subscribe', apps: ids.map(app_id => ({ app_id })) })
  const places = (await inbox.take(2, 'subscribed')).map(({ app_id, rev, epoch }) => ({ app_id, after: rev, epoch }))

  inbox.say({
    type: 'subscribe',
    epoch: 'another',
    apps: [places[0], { app_id: places[1]!.app_id, after: places[1]!.after }],
  })

  await inbox.take(2, 'subscribed')
  expect(await inbox.take(1, 'reset')).toMatchObject([{ app_id: places[1]!.app_id }])
  expect(inbox.frames).toEqual([])
})

test('a subscription names one app, or some, and in one way', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await using inbox = await listen(server.url, { token: ann.token })

  for (const frame of [{}, { app_id: 1, app: 'one' }, { app_id: 1, apps: [] }, { apps: [{}] }]) {
    inbox.say({ type: 'subscribe', ...frame })
    expect(await inbox.hear('error')).toMatchObject({ status: '400' })
  }
})

test('apps in one frame count as frames, and as subscriptions', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await using inbox = await listen(server.url, { token: ann.token })
  const apps = (count: number) => Array.from({ length: count }, (_, i) => ({ app_id: i + 1 }))

  inbox.say({ type: 'subscribe', apps: apps(501) })
  expect(await inbox.hear('error')).toMatchObject({ app_id: '501', code: 'too-many-subscriptions' })

  inbox.say({ type: 'subscribe', apps: apps(500) })
  expect(await inbox.closed).toBe(4429)
})
