import { expect, test } from 'vitest'
import { answersIn, makeAgent } from '../support/agents.ts'
import { startFakeProvider } from '../support/fake-provider.ts'
import { startServer } from '../support/server.ts'

test('twenty people who ask in one room at once are answered each, at most four of them at a time', async () => {
  await using fake = await startFakeProvider({ text: 'An answer.', delayMs: 100 })
  await using server = await startServer({ OPENAI_URL: fake.url })
  const agent = await makeAgent(server, { provider: 'openai' })
  const { app, people } = await server.chatWith(20)
  await server.admin.put(`/api/apps/${app}/members/${agent}`, { access: 'write' })

  const text = `[Assistant](@u${agent}) what now?`
  const asked = await Promise.all(people.map(person => person.post(`/api/apps/${app}/messages`, { text })))

  const answers = await answersIn(people[0]!, app, { count: 20, timeoutMs: 20_000 })
  const repliedTo = answers.map(({ metadata }) => metadata.reply_to.id as string)
  expect(repliedTo.toSorted()).toEqual(asked.map(({ body }) => body.id as string).toSorted())
  expect(fake.requests).toHaveLength(20)
  expect(fake.mostOpen).toBeGreaterThan(1)
  expect(fake.mostOpen).toBeLessThanOrEqual(4)
})
