import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

test('an assistant is made as the settings say, and is left alone once it is there', async () => {
  await using database = await createDatabase()
  const environment = { DATABASE_URL: database.url, ASSISTANT_PROVIDER: 'builtin', ASSISTANT_NAME: 'Robin' }
  {
    await using server = await startServer(environment)
    expect((await server.admin.get('/api/agents/assistant')).body).toMatchObject({ name: 'Robin', model: 'echo' })
    await server.admin.patch('/api/agents/assistant', { name: 'Kim' })
  }
  {
    await using server = await startServer(environment)
    expect((await server.admin.get('/api/agents/assistant')).body.name).toBe('Kim')
    await server.admin.post('/api/agents/assistant/trash')
  }
  await using server = await startServer(environment)
  expect((await server.admin.get('/api/agents')).body.count).toBe('0')
})
