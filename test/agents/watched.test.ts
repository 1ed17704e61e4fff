import { afterAll, beforeAll, expect, test } from 'vitest'
import { answersIn, chatWithAgent, makeAgent } from '../support/agents.ts'
import type { Body } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { startFakeProvider, type FakeProvider } from '../support/fake-provider.ts'
import { listen } from '../support/realtime.ts'
import { answer, startReceiver, type Receiver } from '../support/receiver.ts'
import { startServer, type Server } from '../support/server.ts'

let fake: FakeProvider
let orders: Receiver
let server: Server

beforeAll(async () => {
  fake = await startFakeProvider()
  orders = await startReceiver(answer(200, 'Order 17 is secret-result'))
  server = await startServer({ OPENAI_URL: fake.url })
  const functions = [{ name: 'look', description: 'Looks', url: orders.url, method: 'POST' }]
  await makeAgent(server, { provider: 'openai', functions })
})

afterAll(async () => {
  for (const part of [server, orders, fake]) await part[Symbol.asyncDispose]()
})

/** Waits for the run of an app that is at work, with text that has come. */
const writing = (app: string): Promise<Body> =>
  eventually(async () => {
    const { body } = await server.admin.get(`/api/apps/${app}/runs`)
    expect(body.data).toMatchObject([{ state: 'running', first_text_at: expect.any(String) }])
    return body.data[0]
  })

test('drafts begin anew with each step and each attempt, and the last one is the answer', async () => {
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  await using watching = await listen(server.url, { token: ann.token })
  watching.say({ type: 'subscribe', app_id: app, agents: true })
  await watching.hear('subscribed')
  fake.queue(
    { text: 'Let me look.', calls: [{ name: 'look', arguments: { id: 'secret-argument' } }] },
    { text: 'A half that is thrown away, and its rest.', cut: 500 },
    { text: 'Order 17 is on its way, and arrives tomorrow.' },
  )

  await ann.post(`/api/apps/${app}/messages`, { text: 'Where is order 17?' })
  const frames = await watching.hearUntil('agent_run', ({ run }) => run.state === 'done')
  const [reply] = await answersIn(ann, app)

  const deltas = frames.filter(({ type }) => type === 'agent_delta')
  const last = deltas.slice(deltas.findLastIndex(({ n }) => n === '0'))
  expect(last.map(({ n }) => Number(n))).toEqual(last.map((_, n) => n))
  expect(last.map(({ text }) => text).join('')).toBe(reply!.text)
  const runs = frames.filter(({ type }) => type === 'agent_run').map(({ run }) => run)
  expect(runs.filter(({ tool }) => tool === 'look')).not.toEqual([])
  expect(runs.filter(({ restarted }) => restarted === true)).not.toEqual([])
  const event = frames.findIndex(({ type, actor }) => type === 'event' && actor.uid === 'assistant')
  expect(event).toBeGreaterThan(-1)
  expect(runs.at(-1)).toMatchObject({ state: 'done', reply: { type: 'message', id: reply!.id } })
  expect(JSON.stringify(frames)).not.toMatch(/secret-argument|secret-result/)
})

test('a run that is cancelled closes the connection to its provider, and nothing is posted', async () => {
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  await using watching = await listen(server.url, { token: ann.token })
  watching.say({ type: 'subscribe', app_id: app, agents: true })
  await watching.hear('subscribed')
  fake.queue({ text: 'Order 17 is on its way, and arrives tomorrow.', cut: 500, stalls: true })
  await ann.post(`/api/apps/${app}/messages`, { text: 'Where is order 17?' })
  const { id } = await writing(app)

  expect((await ann.post(`/api/runs/${id}/cancel`)).status).toBe(204)

  // The next renewal of its lease would tell as well, within 5 s.
  await eventually(() => expect(fake.open).toBe(0), { timeoutMs: 3_000 })
  await watching.hear('agent_run', ({ run }) => run.id === id && run.state === 'cancelled')
  expect((await ann.get(`/api/apps/${app}/messages`)).body.count).toBe('1')
  expect((await server.admin.get(`/api/runs/${id}`)).body).toMatchObject({ state: 'cancelled' })
  expect((await ann.post(`/api/runs/${id}/cancel`)).status).toBe(204)
})

test('what had come of an answer is posted where its asker wants to keep it', async () => {
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  fake.queue({ text: 'Order 17 is on its way, and arrives tomorrow.', cut: 500, stalls: true })
  await ann.post(`/api/apps/${app}/messages`, { text: 'Where is order 17?' })
  const { id } = await writing(app)

  await ann.post(`/api/runs/${id}/cancel`, { keep: true })

  const [kept] = await answersIn(ann, app)
  expect('Order 17 is on its way, and arrives tomorrow.').toContain(kept!.text)
  expect(kept).toMatchObject({ metadata: { run: id, finish: 'cancelled' } })
  await expect.poll(() => fake.open).toBe(0)
})

test('a list of runs says what each came to and cost, without a word that was written', async () => {
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  // Otherwise it is called after the question.
  await ann.patch(`/api/apps/${app}`, { name: 'Orders' })
  const call = { id: 'call_1', name: 'look', arguments: { id: 'secret-argument' } }
  fake.queue(
    { text: 'secret-preamble', calls: [call], usage: { in: 100, out: 10 } },
    { text: 'secret-answer', usage: { in: 200, out: 20, cached: 5 } },
  )
  await ann.post(`/api/apps/${app}/messages`, { text: 'secret-question' })
  const [{ metadata }] = (await answersIn(ann, app)) as [Body]
  fake.queue({ status: 400, body: { error: { message: 'secret-error' } } })
  await ann.post(`/api/apps/${app}/messages`, { text: 'secret-question' })
  await answersIn(ann, app, { count: 2 })

  const { body: runs } = await server.admin.get(`/api/agents/assistant/runs?app=${app}`)
  const { body: details } = await server.admin.get(`/api/runs/${metadata.run}`)

  expect(runs.data).toMatchObject([
    { state: 'failed', error: 'provider_error', asker: { uid: ann.uid } },
    { state: 'done', usage: { input: '300', output: '30', cached: '5' }, rounds: '1', calls: '1', model: 'echo' },
  ])
  expect(Date.parse(runs.data[1].ended_at)).toBeGreaterThanOrEqual(Date.parse(runs.data[1].began_at))
  expect(details.steps).toMatchObject([{ kind: 'model' }, { kind: 'function', name: 'look', outcome: 'ok' }, {}])
  expect(JSON.stringify([runs, details])).not.toContain('secret-')
})
