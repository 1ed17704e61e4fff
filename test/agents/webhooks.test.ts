import { expect, test } from 'vitest'
import { answersIn, chatWithAgent, makeAgent } from '../support/agents.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { startServer } from '../support/server.ts'
import { serveTools } from '../support/tool-server.ts'
import { payloadOf, register } from '../support/webhooks.ts'

const triggers = ['agents']

test('a webhook is told of the runs that were answered, and of those that failed', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  await register(server, receiver.url, { triggers })
  const agent = await makeAgent(server, { model: 'script' })
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)

  const { body: question } = await ann.post(`/api/apps/${app}/messages`, { text: 'tokens 7 5\nsay Hello' })
  const [done] = (await receiver.take(1)).map(payloadOf)
  await ann.post(`/api/apps/${app}/messages`, { text: 'fail provider_error' })
  const failed = (await receiver.take(2)).map(payloadOf)[1]!
  const [answer, refusal] = await answersIn(ann, app, { count: 2 })

  expect(receiver.requests[0]!.headers['x-service-trigger']).toBe('agents')
  expect(done).toEqual({
    id: expect.stringMatching(/^\d+$/),
    action: 'run_done',
    actor: expect.objectContaining({ id: agent, uid: 'assistant', name: 'Assistant' }),
    run: {
      id: answer!.metadata.run,
      agent: { id: agent, uid: 'assistant', name: 'Assistant' },
      app: { id: app, type: expect.any(String), kind: 'agent_chat' },
      item: { type: 'message', id: question.id },
      asker: { id: ann.id, uid: ann.uid, name: 'Ann' },
      state: 'done',
      reply: { type: 'message', id: answer!.id },
      provider: 'builtin',
      model: 'script',
      rounds: '0',
      calls: '0',
      attempts: '0',
      usage: { input: '7', output: '5', cached: '0' },
      created_at: expect.any(String),
      began_at: expect.any(String),
      first_text_at: expect.any(String),
      ended_at: expect.any(String),
    },
  })
  expect(failed).toMatchObject({
    action: 'run_failed',
    run: { state: 'failed', error: 'provider_error', reply: { id: refusal!.id } },
  })
})

test('a run that fails without a word is told as well', async () => {
  await using server = await startServer({ AGENT_RUNS_PER_USER: '1' })
  await using receiver = await startReceiver()
  await register(server, receiver.url, { triggers })
  await makeAgent(server)
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)

  for (const text of ['One', 'Two', 'Three']) await ann.post(`/api/apps/${app}/messages`, { text })
  const told = (await receiver.take(3)).map(payloadOf)

  const of = (run: { state: string; error?: string; reply?: object }) => [run.state, run.error, 'reply' in run]
  expect(told.map(({ run }) => of(run))).toEqual([
    ['done', undefined, true],
    ['failed', 'rate_limited', true],
    ['failed', 'rate_limited', false],
  ])
})

test('a webhook is told of questions for approval and of what was decided, and never of arguments', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  await using tools = await serveTools({
    cancel_order: { description: 'Cancels', schema: { type: 'object' }, answer: () => ({ content: [] }) },
  })
  await register(server, receiver.url, { triggers: ['agents', 'messages'] })
  await makeAgent(server, { model: 'script' })
  await server.admin.post('/api/agents/assistant/mcp', { name: 'crm', url: tools.url })
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)

  const text = 'call crm__cancel_order {"secret":"swordfish"}'
  await ann.post(`/api/apps/${app}/messages`, { text, metadata: { instructions: 'Say swordfish' } })
  const [question] = await answersIn(ann, app)
  const { id } = question!.metadata.tool_approval
  await ann.post(`/api/approvals/${id}`, { approved: true })
  await answersIn(ann, app, { count: 2, timeoutMs: 10_000 })
  const told = await eventually(() => {
    const ofAgents = receiver.requests.map(payloadOf).filter(({ run }) => run !== undefined)
    expect(ofAgents).toHaveLength(3)
    return Object.fromEntries(ofAgents.map(payload => [payload.action, payload]))
  })

  const approval = { id, server: 'crm', tool: 'cancel_order', expires_at: question!.metadata.tool_approval.expires_at }
  expect(told).toMatchObject({
    approval_requested: { actor: { uid: 'assistant' }, approval: { ...approval, state: 'pending' } },
    approval_decided: {
      actor: { uid: ann.uid },
      run: { approvals: [id] },
      approval: { ...approval, state: 'approved' },
    },
    run_done: { actor: { uid: 'assistant' }, run: { state: 'done', calls: '1' } },
  })
  expect(receiver.requests.filter(({ body }) => body.includes('swordfish'))).toEqual([])
})
