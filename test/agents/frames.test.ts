import { expect, test } from 'vitest'
import { chatWithAgent, makeAgent } from '../support/agents.ts'
import { listen } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'

test('clients that ask for it see an answer while it is written, and others see nothing of that', async () => {
  await using server = await startServer()
  await makeAgent(server, { model: 'script' })
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  await using watching = await listen(server.url, { token: ann.token })
  await using other = await listen(server.url, { token: ann.token })
  watching.say({ type: 'subscribe', app_id: app, agents: true })
  await watching.hear('subscribed')
  await other.subscribe(app)

  const { body: question } = await ann.post(`/api/apps/${app}/messages`, { text: 'say first\nwait 1\nsay second' })
  const isFinal = (frame: { run?: { state: string } }) => frame.run?.state === 'done'
  await other.hear('event', ({ actor }) => actor.uid === 'assistant')
  const frames = await watching.hearUntil('agent_run', isFinal)
  const last = frames.at(-1)!
  const answer = (await ann.get(`/api/messages/${last.run.reply.id}`)).body

  expect(last).toMatchObject({ run: { agent: { uid: 'assistant' }, item: { type: 'message', id: question.id } } })
  const deltas = frames.filter(({ type }) => type === 'agent_delta')
  expect(deltas.map(({ n }) => Number(n))).toEqual(deltas.map((_, n) => n))
  expect(
    deltas
      .map(({ text }) => text)
      .join('')
      .trim(),
  ).toBe(answer.text)
  await other.settle()
  expect(other.frames.filter(({ type }) => type.startsWith('agent_'))).toEqual([])
})
