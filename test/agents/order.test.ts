import { expect, test } from 'vitest'
import { allAnswered, answersIn, chatWithAgent, makeAgent } from '../support/agents.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/server.ts'

test('messages in a row are answered each, in their order', async () => {
  await using server = await startServer()
  await makeAgent(server)
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)

  const asked: string[] = []
  for (const text of ['one', 'two', 'three'])
    asked.push((await ann.post(`/api/apps/${app}/messages`, { text })).body.id)

  const answers = await answersIn(ann, app, { count: 3 })
  expect(answers.map(({ metadata }) => metadata.reply_to.id)).toEqual(asked)
})

test('of a flood of messages the last three are answered, and the rest with them', async () => {
  await using server = await startServer()
  await makeAgent(server, { model: 'script' })
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  await ann.post(`/api/apps/${app}/messages`, { text: 'wait 3\nsay one' })
  await eventually(async () => expect((await server.admin.get('/api/runs?state=running')).body.count).toBe('1'))

  const asked: string[] = []
  for (let i = 0; i < 20; i++) {
    asked.push((await ann.post(`/api/apps/${app}/messages`, { text: `say answer ${i}` })).body.id)
  }

  const answers = await answersIn(ann, app, { count: 4, timeoutMs: 15_000 })
  await allAnswered(server)
  expect(answers.map(({ metadata }) => metadata.reply_to.id).slice(1)).toEqual(asked.slice(-3))
  expect((await server.admin.get('/api/runs?state=merged')).body.count).toBe('17')
  expect((await server.admin.get('/api/runs?state=done')).body.count).toBe('4')
})
