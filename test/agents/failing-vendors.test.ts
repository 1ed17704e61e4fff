import { afterAll, beforeAll, expect, test } from 'vitest'
import { allAnswered, answersIn, chatWithAgent, makeAgent } from '../support/agents.ts'
import type { Body } from '../support/client.ts'
import { startFakeProvider, type FakeProvider, type Reply } from '../support/fake-provider.ts'
import { listen } from '../support/realtime.ts'
import { acknowledge, startReceiver } from '../support/receiver.ts'
import { startServer, type Server } from '../support/server.ts'
import { records } from '../support/vendor-forms.ts'
import { register } from '../support/webhooks.ts'

let fake: FakeProvider
let server: Server

beforeAll(async () => {
  fake = await startFakeProvider()
  server = await startServer({ OPENAI_URL: fake.url, AGENT_SECONDS: '6' })
  await makeAgent(server, { provider: 'openai' })
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await fake[Symbol.asyncDispose]()
})

/** What the agent says to a question for which the vendor answers like this, and the requests that it took. */
async function askFor(...replies: Reply[]): Promise<{ answers: Body[]; requests: number }> {
  const before = fake.requests.length
  fake.queue(...replies)
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  await ann.post(`/api/apps/${app}/messages`, { text: 'Where is order 17?' })
  await answersIn(ann, app, { timeoutMs: 15_000 })
  await allAnswered(server)
  return { answers: await answersIn(ann, app), requests: fake.requests.length - before }
}

const busy: Reply = { status: 429, headers: { 'retry-after': '1' }, body: { error: { message: 'Too many' } } }
const broken: Reply = { status: 500, body: { error: { message: 'Out of order 4711' } } }

test('a vendor that is busy for a second is asked once more, and the answer comes once', async () => {
  const { answers, requests } = await askFor(busy, { text: 'It is on its way.' })

  expect(answers.map(({ text }) => text)).toEqual(['It is on its way.'])
  expect(answers[0].metadata.error).toBeUndefined()
  expect(requests).toBe(2)
})

test('a vendor that fails twice is not asked a third time, and people learn that there is no answer and nothing more', async () => {
  const { answers, requests } = await askFor(broken, broken)

  expect(answers).toMatchObject([{ text: 'I cannot answer at the moment.', metadata: { error: 'provider_error' } }])
  expect(JSON.stringify(answers)).not.toContain('4711')
  expect(requests).toBe(2)
})

test('a vendor that never answers costs the time of a run, and its connection is closed', async () => {
  const { answers, requests } = await askFor({ hang: true })

  expect(answers).toMatchObject([{ text: 'I cannot answer at the moment.', metadata: { error: 'timeout' } }])
  expect(requests).toBe(1)
  await expect.poll(() => fake.open).toBe(0)
})

test('a vendor that declines to answer is not asked again', async () => {
  const { answers, requests } = await askFor({ text: 'I would', end: 'filtered' })

  expect(answers).toMatchObject([{ text: 'I cannot answer that.', metadata: { error: 'content_filtered' } }])
  expect(requests).toBe(1)
})

test('an answer of 15 MB ends after 256 KiB, and what is posted of it says that it was cut', async () => {
  const delta = `${'word '.repeat(2_000)}\n`
  const stream = records(Array.from({ length: 1_500 }, () => ({ choices: [{ delta: { content: delta } }] })))

  const { answers, requests } = await askFor({ stream })

  expect(answers).toHaveLength(1)
  expect(answers[0].text.length).toBeLessThan(65_010)
  expect(answers[0].text).toMatch(/^(?:word[ \n]+)+…$/)
  expect(answers[0].metadata.finish).toBe('length')
  expect(requests).toBe(1)
  await expect.poll(() => fake.open).toBe(0)
})

test('a call whose arguments never end fails, and is not asked for again', async () => {
  const call = { index: 0, id: 'a', function: { name: 'look', arguments: 'x'.repeat(100_000) } }
  const stream = records(Array.from({ length: 60 }, () => ({ choices: [{ delta: { tool_calls: [call] } }] })))

  const { answers, requests } = await askFor({ stream })

  expect(answers).toMatchObject([{ metadata: { error: 'provider_error' } }])
  expect(requests).toBe(1)
})

test('half an answer is seen nowhere, whether the next attempt succeeds or fails as well', async () => {
  await using receiver = await startReceiver(acknowledge)
  await register(server, receiver.url, { triggers: ['messages', 'notifications'] })
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  await using watching = await listen(server.url, { token: ann.token })
  await watching.subscribe(app)
  const half: Reply = { text: 'The half that nobody may see. And the rest of it.', cut: 700 }

  fake.queue(half, half)
  await ann.post(`/api/apps/${app}/messages`, { text: 'One?' })
  const [failed] = await answersIn(ann, app)
  fake.queue(half, { text: 'A whole answer.' })
  await ann.post(`/api/apps/${app}/messages`, { text: 'Two?' })
  const answers = await answersIn(ann, app, { count: 2 })
  await allAnswered(server)
  await watching.settle()
  const { body: notifications } = await ann.get('/api/notifications?out=details')

  expect(failed).toMatchObject({ text: 'I cannot answer at the moment.', metadata: { error: 'provider_error' } })
  expect(answers.at(-1)).toMatchObject({ text: 'A whole answer.' })
  const seen = [answers, watching.frames, notifications, receiver.requests.map(({ body }) => body)]
  expect(JSON.stringify(seen)).not.toContain('nobody may see')
})
