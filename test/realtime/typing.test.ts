import { expect, test } from 'vitest'
import { listen } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'

test('subscribers see who is typing, until the message is there', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using inbox = await listen(server.url, { token: ben.token })
  await inbox.subscribe(app)

  await ann.put(`/api/apps/${app}/typing`)
  const begun = await inbox.hear('typing')
  await ann.post(`/api/apps/${app}/messages`, { text: 'typed' })
  const ended = await inbox.hear('typing')

  expect(begun).toMatchObject({ app_id: app, actor: { id: ann.id, name: 'Ann' }, is_typing: true })
  expect(ended).toMatchObject({ app_id: app, actor: { id: ann.id }, is_typing: false })
})
