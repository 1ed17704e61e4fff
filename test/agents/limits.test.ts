import { expect, test } from 'vitest'
import { allAnswered, answersIn, chatWithAgent, makeAgent } from '../support/agents.ts'
import { client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

test.each([1, 2])('a burst over the limit of a person is told of once, by nodes: %i', async count => {
  await using database = await createDatabase()
  const settings = { AGENT_RUNS_PER_USER: '2', DATABASE_URL: database.url }
  await using server = await startServer(settings)
  await using other = count > 1 ? await startServer(settings) : null
  await makeAgent(server)
  const ann = await server.person('Ann')
  const chats: string[] = []
  for (let i = 0; i < 12; i++) chats.push(await chatWithAgent(ann))

  const elsewhere = other === null ? ann : client(other.url, ann.token)
  const ask = (chat: string, i: number) =>
    (i % 2 === 0 ? ann : elsewhere).post(`/api/apps/${chat}/messages`, { text: 'All at once' })
  await Promise.all(chats.map(ask))
  await allAnswered(server)

  const answers = (await Promise.all(chats.map(chat => answersIn(ann, chat, { count: 0 })))).flat()
  const told = answers.filter(({ metadata }) => metadata.error === 'rate_limited')
  expect(told).toHaveLength(1)
  expect(answers.length).toBeLessThan(chats.length)
})

test('a burst over the limit of an app is told of once there, whoever asked', async () => {
  await using server = await startServer({ AGENT_RUNS_PER_APP: '2' })
  const agent = await makeAgent(server)
  const { app, people } = await server.chatWith(8)
  await server.admin.put(`/api/apps/${app}/members/${agent}`, { access: 'write' })

  const text = `[Assistant](@u${agent}) hello`
  await Promise.all(people.map(one => one.post(`/api/apps/${app}/messages`, { text })))
  await allAnswered(server)

  const answers = await answersIn(people[0]!, app, { count: 1 })
  expect(answers.filter(({ metadata }) => metadata.error === 'rate_limited')).toHaveLength(1)
})
