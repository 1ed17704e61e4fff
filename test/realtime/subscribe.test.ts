import { expect, test } from 'vitest'
import { startPair } from '../support/pair.ts'
import { listen } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'

test('a subscriber hears of a message with everything that its readers see', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using inbox = await listen(server.url, { token: ben!.token })
  const start = await inbox.subscribe(app)

  await ann!.post(`/api/apps/${app}/messages`, { text: 'hello' })

  const [event] = await inbox.take(1)
  expect(event).toMatchObject({
    event: 'message_created',
    app_id: app,
    prev: start.rev,
    actor: { id: ann!.id, uid: ann!.uid },
    message: { text: 'hello', created_by: { id: ann!.id } },
  })
  expect(event.id).toBe(event.rev)
})

test('answers bear the number of their request, and a request that was replaced gets none', async () => {
  await using pair = await startPair({ hasRedis: false })
  const {
    app,
    people: [ann],
  } = await pair.here.chatWith(1)
  const { app: foreign } = await pair.here.chatWith(1)
  // This node has to load the app first.
  await using inbox = await listen(pair.there.url, { token: ann.token })

  for (const request_id of [1, 2]) inbox.say({ type: 'subscribe', app_id: app, request_id })
  inbox.say({ type: 'subscribe', app_id: foreign, request_id: 3 })
  // In either order: each waits for an app of its own.
  const [subscribed] = await inbox.take(1, 'subscribed')
  const [refused] = await inbox.take(1, 'error')
  inbox.say({ type: 'subscribe', app_id: app, request_id: 4, after: subscribed.rev })

  expect(subscribed).toMatchObject({ app_id: app, request_id: '2' })
  expect(refused).toMatchObject({ app_id: foreign, request_id: '3', code: 'not-found' })
  expect(await inbox.hear('subscribed')).toEqual({ ...subscribed, request_id: '4' })
  expect(inbox.frames).toEqual([])
})
