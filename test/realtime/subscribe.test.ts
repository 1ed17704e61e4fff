import { expect, test } from 'vitest'
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
