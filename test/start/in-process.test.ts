import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

test('two nodes in one process share a database and nothing else', async () => {
  await using database = await createDatabase()
  await using one = await startServer({ DATABASE_URL: database.url })
  await using other = await startServer({ DATABASE_URL: database.url })
  const ann = await one.person('Ann')

  const seen = await other.request('GET', '/api/user', { token: ann.token })

  expect(seen).toMatchObject({ status: 200, body: { id: ann.id, name: 'Ann' } })
  expect(one.url).not.toBe(other.url)
})

test('people in a chat room write to each other, and a stranger finds nothing', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
    stranger,
  } = await server.chatWith(2)

  await ann.post(`/api/apps/${app}/messages`, { text: 'Hello' })

  expect((await ben.get(`/api/apps/${app}/messages`)).body).toMatchObject({ data: [{ text: 'Hello' }], count: '1' })
  expect((await stranger.get(`/api/apps/${app}/messages`)).status).toBe(404)
})
