import { expect, test } from 'vitest'
import { chatWithAgent, makeAgent } from '../support/agents.ts'
import { eventually } from '../support/eventually.ts'
import { listen } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'

test('an agent is seen to type for a person whose question waits for its turn, until that is cancelled', async () => {
  await using server = await startServer({ AGENT_RUNS_AT_ONCE: '1' })
  await makeAgent(server, { model: 'script' })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const [anns, bens] = [await chatWithAgent(ann), await chatWithAgent(ben)]
  await ann.post(`/api/apps/${anns}/messages`, { text: 'wait 60' })
  await eventually(async () => expect((await server.admin.get('/api/runs?state=running')).body.count).toBe('1'))
  await using watching = await listen(server.url, { token: ben.token })
  watching.say({ type: 'subscribe', app_id: bens, agents: true })
  await watching.hear('subscribed')

  const { body: question } = await ben.post(`/api/apps/${bens}/messages`, { text: 'say Hello' })
  const typing = await watching.hear('typing')
  const { run } = await watching.hear('agent_run')
  await ben.post(`/api/runs/${run.id}/cancel`)
  const frames = await watching.hearUntil('agent_run', ({ run }) => run.state !== 'queued')

  expect(typing).toMatchObject({ actor: { uid: 'assistant' }, is_typing: true })
  expect(run).toMatchObject({ state: 'queued', agent: { uid: 'assistant' }, item: { id: question.id } })
  expect(frames.at(-1)!.run).toMatchObject({ id: run.id, state: 'cancelled' })
  const { body: running } = await ann.get(`/api/apps/${anns}/runs`)
  await ann.post(`/api/runs/${running.data[0].id}/cancel`)
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  expect(metrics).toMatch(/^parley_agent_runs_total\{state="cancelled"\} [12]$/m)
  expect(metrics).toMatch(/^parley_knowledge_files\{state="indexed"\} 0$/m)
})
