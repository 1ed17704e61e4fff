import { expect, test } from 'vitest'
import { answersIn, chatWithAgent, makeAgent } from '../support/agents.ts'
import { listen } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'

test('an agent answers each message of its chat, naming itself and quoting the question, after it was seen to type', async () => {
  await using server = await startServer()
  await makeAgent(server)
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  await using listener = await listen(server.url, { token: ann.token })
  await listener.subscribe(app)

  const { body: question } = await ann.post(`/api/apps/${app}/messages`, { text: 'Where is **order 17**?' })

  const typing = await listener.hear('typing')
  const event = await listener.hear(
    'event',
    ({ event, actor }) => event === 'message_created' && actor.uid === 'assistant',
  )
  const [answer] = await answersIn(ann, app)
  expect(typing.actor.uid).toBe('assistant')
  expect(event.message.id).toBe(answer.id)
  expect(answer.plain).toContain('Assistant works without a language model here. You asked:')
  expect(answer.plain).toContain('order 17')
  expect(answer.metadata).toEqual({ run: expect.any(String), reply_to: { type: 'message', id: question.id } })
  expect((await ann.get(`/api/apps/${app}`)).body).toMatchObject({ is_unread: true, last_message: { id: answer.id } })
})
