import { expect, test } from 'vitest'
import { allAnswered, answersIn, chatWithAgent, makeAgent } from '../support/agents.ts'
import { eventually } from '../support/eventually.ts'
import { startServer, type Server } from '../support/server.ts'

/** A run that is at work on `text`, and whoever asked. */
async function beginRun(server: Server, text: string) {
  await makeAgent(server, { model: 'script' })
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  await ann.post(`/api/apps/${app}/messages`, { text })
  const run = await eventually(async () => {
    const { body } = await server.admin.get('/api/runs?state=running')
    expect(body.data?.[0]?.first_text_at).toBeDefined()
    return body.data[0].id as string
  })
  return { ann, app, run }
}

test('a run that is cancelled posts nothing, or what was written so far where that is wanted', async () => {
  await using server = await startServer()
  const { ann, app, run } = await beginRun(server, 'say so far\nwait 30\nsay the rest')

  expect((await ann.post(`/api/runs/${run}/cancel`, { keep: true })).status).toBe(204)
  const [kept] = await answersIn(ann, app)
  await ann.post(`/api/apps/${app}/messages`, { text: 'say nothing\nwait 30' })
  const { body: open } = await eventually(async () => {
    const answer = await ann.get(`/api/apps/${app}/runs`)
    expect(answer.body.data).toMatchObject([{ state: 'running' }])
    return answer
  })
  await ann.post(`/api/runs/${open.data[0].id}/cancel`)
  await allAnswered(server)

  expect(kept).toMatchObject({ text: 'so far', metadata: { run, finish: 'cancelled' } })
  expect(await answersIn(ann, app)).toHaveLength(1)
  expect((await ann.get(`/api/runs/${run}`)).body).toMatchObject({ state: 'cancelled', reply: { id: kept.id } })
})

test('a run is shown to its asker and to API keys, and what it took to API keys alone', async () => {
  await using server = await startServer()
  const { ann, run } = await beginRun(server, 'tokens 12 34\nsay secret words\nwait 1')
  const ben = await server.person('Ben')
  await allAnswered(server)

  const [mine, managed] = [await ann.get(`/api/runs/${run}`), await server.admin.get(`/api/runs/${run}`)]

  expect((await ben.get(`/api/runs/${run}`)).status).toBe(404)
  expect(mine.body).not.toHaveProperty('usage')
  expect(managed.body).toMatchObject({ provider: 'builtin', usage: { input: '12', output: '34' }, state: 'done' })
  expect(JSON.stringify(managed.body)).not.toContain('secret words')
  expect((await ann.post(`/api/runs/${run}/retry`)).body.code).toBe('not-ended')
  expect((await server.admin.get('/api/agent-usage?by=agent')).body).toMatchObject([{ runs: '1', input: '12' }])
})

test('a run that failed can be tried again, and its error goes when it is answered', async () => {
  await using server = await startServer()
  await makeAgent(server, { model: 'script' })
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  await server.admin.patch('/api/agents/assistant', { provider: 'gemini' })
  await ann.post(`/api/apps/${app}/messages`, { text: 'say answered' })
  const [failed] = await answersIn(ann, app)
  await server.admin.patch('/api/agents/assistant', { provider: 'kapa' })

  const again = await ann.post(`/api/runs/${failed.metadata.run}/retry`)
  await allAnswered(server)

  expect(again).toMatchObject({ status: 202, body: { id: failed.metadata.run } })
  expect((await ann.get(`/api/messages/${failed.id}`)).status).toBe(404)
  expect(await answersIn(ann, app)).toHaveLength(1)
})

test('an answer whose question was trashed meanwhile is not posted', async () => {
  await using server = await startServer()
  const { ann, app, run } = await beginRun(server, 'say too late\nwait 2')
  const { body: messages } = await ann.get(`/api/apps/${app}/messages`)

  await ann.post(`/api/messages/${messages.data[0].id}/trash`)
  await allAnswered(server)

  expect((await ann.get(`/api/runs/${run}`)).body.state).toBe('cancelled')
  expect((await ann.get(`/api/apps/${app}/messages`)).body.count).toBe('0')
})
