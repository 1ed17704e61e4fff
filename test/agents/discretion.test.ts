import { expect, test } from 'vitest'
import { allAnswered, answersIn, makeAgent } from '../support/agents.ts'
import { client, type Body } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startFakeProvider } from '../support/fake-provider.ts'
import { createDirectory, startProgram } from '../support/process.ts'
import { answer, startReceiver } from '../support/receiver.ts'
import { serveTools } from '../support/tool-server.ts'
import { upload } from '../support/uploads.ts'
import { payloadOf, register } from '../support/webhooks.ts'

/** Stands in everything that nobody but its readers may see. */
const secret = 'swordfish'

/** What a whole day of an agent is made of: answers, calls, approvals, errors of all parts, a run that is tried again. */
async function liveThrough() {
  const database = await createDatabase()
  const dir = createDirectory()
  const fake = await startFakeProvider({ text: `${secret}-answer` })
  const orders = await startReceiver((request, response) => {
    const behaviour = request.path.includes('fails') ? answer(500, `${secret}-result`) : answer(200, `${secret}-result`)
    behaviour(request, response)
  })
  const tools = await serveTools({
    find: {
      description: `${secret}-description`,
      answer: () => ({ content: [{ type: 'text', text: `${secret}-tool` }] }),
    },
  })
  const hook = await startReceiver()
  const key = `sk-${secret}-key`
  const program = await startProgram(dir, {
    DATABASE_URL: database.url,
    LOG_LEVEL: 'debug',
    OPENAI_URL: fake.url,
    OPENAI_API_KEY: key,
    FUNCTION_SECRET: `${secret}-of-functions`,
  })
  const headers = { 'x-key': `${secret}-header` }
  await makeAgent(program, {
    provider: 'openai',
    instructions: `${secret}-instructions`,
    functions: [
      { name: 'look', description: 'Looks', url: `${orders.url}?key=${secret}-query`, headers },
      { name: 'broken', description: 'Fails', url: `${orders.url}/fails?key=${secret}-query`, method: 'POST', headers },
      { name: 'gone', description: 'Fails', url: `http://127.0.0.1:1/?key=${secret}-query`, headers },
    ],
  })
  const server = { name: 'crm', url: `${tools.url}?key=${secret}-query`, headers }
  const gone = { name: 'gone', url: `http://127.0.0.1:1/?key=${secret}-query`, headers }
  for (const one of [server, gone]) await program.admin.post('/api/agents/assistant/mcp', one)
  await register(program, hook.url, { triggers: ['messages', 'apps'], secret: `${secret}-of-webhook` })

  const { body: user } = await program.admin.post('/api/users', { uid: 'ann', name: `Ann ${secret}-name` })
  const { body: made } = await program.admin.post(`/api/users/${user.id}/tokens`)
  const ann = client(program.url, made.access_token)
  const { body: app } = await ann.post('/api/apps', { type: 'agent_chat', members: ['assistant'], name: 'Orders' })
  const { body: page } = await upload(ann, { name: `${secret}-page.txt`, content: `${secret}-context` })
  const { body: file } = await upload(ann, { name: 'file.txt', content: `${secret}-attachment` })
  let answers = 0
  const ask = async (count = 1): Promise<Body> => {
    await ann.post(`/api/apps/${app.id}/messages`, {
      text: `${secret}-question`,
      metadata: { instructions: `${secret}-page-instructions` },
      context: [page.id],
      blobs: [file.id],
    })
    answers += count
    return (await answersIn(ann, app.id, { count: answers, timeoutMs: 20_000 })).at(-1)
  }
  const call = (name: string) => ({ id: name, name, arguments: { id: `${secret}-argument` } })

  fake.queue({ text: `${secret}-preamble`, calls: ['look', 'broken', 'gone', 'none'].map(call) })
  await ask()
  fake.queue({ calls: [call('crm__find')] })
  const question = await ask()
  await ann.post(`/api/options/${question.options.data[0].id}/vote`)
  await answersIn(ann, app.id, { count: ++answers, timeoutMs: 20_000 })
  const failure = { status: 401, body: { error: { message: `Bad key ${key}` } } }
  fake.queue(failure, { status: 500, body: '' }, { text: `${secret}-half`, cut: 300 }, { stream: 'data: {"half\n\n' })
  const failed = await ask()
  await ask()
  await ann.post(`/api/runs/${failed.metadata.run}/retry`)
  await allAnswered(program)
  // Every item that was made has been told of.
  const { body: list } = await ann.get(`/api/apps/${app.id}/messages?take=100`)
  await eventually(() => expect(createdIn(hook.requests.map(payloadOf))).toBeGreaterThanOrEqual(Number(list.count)))
  const metrics = await (await fetch(`${program.url}/metrics`)).text()
  return {
    log: program.output(),
    metrics,
    bodies: hook.requests.map(({ body }) => body),
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]()
      for (const part of [hook, tools, orders, fake, dir, database]) await part[Symbol.asyncDispose]()
    },
  }
}

const createdIn = (payloads: Body[]) => payloads.filter(({ action }) => action === 'message_created').length

test('logs, metrics and webhooks say that agents were at work, and nothing that was asked, answered, called or kept', async () => {
  await using lived = await liveThrough()
  const { log, metrics, bodies } = lived

  expect(log).toContain('A run has ended')
  expect(log).toContain('A provider refuses the key')
  expect(log).toContain('A provider did not answer')
  expect(log).not.toContain(secret)
  expect(metrics).toMatch(/^parley_agent_runs_total\{state="done"\} [1-9]/m)
  expect(metrics).toMatch(/^parley_agent_calls_total\{kind="mcp",outcome="ok"\} 1/m)
  expect(metrics).not.toContain(secret)
  expect(bodies.join()).toContain('"tool_approval"')
  expect(bodies.join()).not.toMatch(/"instructions"|"arguments"|"context"/)
  // Names of people and apps are told; nothing else of all this is.
  expect(bodies.join().replaceAll(`${secret}-name`, '')).not.toContain(secret)
}, 120_000)
