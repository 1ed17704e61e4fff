import { afterAll, beforeAll, expect, test } from 'vitest'
import { allAnswered, answersIn, chatWithAgent, makeAgent } from '../support/agents.ts'
import type { Body } from '../support/client.ts'
import { startFakeProvider, type FakeProvider, type Reply } from '../support/fake-provider.ts'
import { answer, drip, startReceiver, type Receiver } from '../support/receiver.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { serveLegacyTools, serveOldTools, serveTools } from '../support/tool-server.ts'

let fake: FakeProvider
let orders: Receiver
let server: Server

beforeAll(async () => {
  fake = await startFakeProvider()
  orders = await startReceiver(answer(200, '{ "state": "sent" }', { 'content-type': 'application/json' }))
  server = await startServer({ OPENAI_URL: fake.url })
})

afterAll(async () => {
  for (const part of [server, orders, fake]) await part[Symbol.asyncDispose]()
})

let made = 0

/** An agent with these functions and tool servers. */
async function makeHelper({ functions = [], servers = [] }: { functions?: object[]; servers?: object[] }) {
  const uid = `helper-${++made}`
  await makeAgent(server, { uid, name: 'Helper', provider: 'openai', functions })
  for (const one of servers) {
    expect((await server.admin.post(`/api/agents/${uid}/mcp`, { approval_mode: 'never', ...one })).status).toBe(201)
  }
  return uid
}

/** What the agent answers where its model answers like this, and the requests that it took. */
async function ask(uid: string, ...replies: Reply[]) {
  const before = fake.requests.length
  fake.queue(...replies)
  const ann: Person = await server.person('Ann')
  const app = await chatWithAgent(ann, uid)
  await ann.post(`/api/apps/${app}/messages`, { text: 'Where is order 17?' })
  const [reply] = await answersIn(ann, app, { agent: uid, timeoutMs: 20_000 })
  await allAnswered(server)
  const requests = fake.requests.slice(before).map(({ body }) => body)
  return { ann, app, reply: reply!, requests, tools: namesOf(requests[0]), results: resultsOf(requests.at(-1)) }
}

const namesOf = ({ tools = [] }: Body): string[] => tools.map((tool: Body) => tool.function.name)
const resultsOf = ({ messages }: Body): string[] =>
  messages.filter(({ role }: Body) => role === 'tool').map(({ content }: Body) => content)

const call = (name: string, args: object = {}): Reply => ({ calls: [{ name, arguments: args }] })
const done: Reply = { text: 'Done.' }

test('a function gets its arguments in path, query and body, and learns for whom it is called', async () => {
  const parameters = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
  const url = `${orders.url}/{id}`
  const headers = { 'x-key': 'abc' }
  const uid = await makeHelper({
    functions: [
      { name: 'find', description: 'Finds', url, parameters, headers },
      { name: 'change', description: 'Changes', url, method: 'POST', parameters, headers },
    ],
  })
  const before = orders.requests.length

  const { ann, app, reply, results } = await ask(
    uid,
    {
      calls: [
        { id: 'a', name: 'find', arguments: { id: 'a/b', state: ['new', 'old'] } },
        { id: 'b', name: 'change', arguments: { id: '17', state: 'sent' } },
        { id: 'c', name: 'change', arguments: { id: 17 } },
      ],
    },
    done,
  )

  const [found, changed, ...more] = orders.requests.slice(before).toSorted((a, b) => (a.method < b.method ? -1 : 1))
  expect(found).toMatchObject({ method: 'GET', path: '/hook/a%2Fb?state=new&state=old', body: '' })
  expect(changed).toMatchObject({ method: 'POST', path: '/hook/17', body: '{"state":"sent"}' })
  expect(more).toEqual([])
  const { run } = reply.metadata
  for (const { headers } of [found!, changed!]) {
    expect(headers).toMatchObject({
      'x-key': 'abc',
      'x-service-agent': uid,
      'x-service-user': ann.uid,
      'x-service-app': app,
      'x-service-run': run,
      'idempotency-key': expect.stringMatching(new RegExp(`^${run}-\\d+$`)),
      'user-agent': expect.stringMatching(/^ServiceBot\/\d/),
    })
  }
  expect(results.slice(0, 2)).toEqual(Array(2).fill('HTTP 200\n{"state":"sent"}'))
  expect(results[2]).toMatch(/^Invalid arguments, nothing was sent/)
})

test('a function that takes too long is an error to the model, and the answer comes', async () => {
  await using slow = await startReceiver(drip)
  const uid = await makeHelper({ functions: [{ name: 'look', description: 'Looks', url: slow.url }] })

  const { reply, results } = await ask(uid, call('look'), done)

  expect(reply.text).toBe('Done.')
  expect(results).toEqual(['It did not answer in time.'])
})

test('a function at a link-local address, or that redirects there, is an error to the model', async () => {
  await using redirect = await startReceiver(answer(302, '', { location: 'http://169.254.169.254/latest/' }))
  const uid = await makeHelper({
    functions: [
      { name: 'metadata', description: 'x', url: 'http://169.254.169.254/latest/' },
      { name: 'redirect', description: 'x', url: redirect.url },
    ],
  })

  const calls = ['metadata', 'redirect'].map(name => ({ id: name, name, arguments: {} }))
  const { reply, results } = await ask(uid, { calls }, done)

  expect(reply.text).toBe('Done.')
  expect(results).toEqual(['Its address may not be reached.', 'HTTP 302\n(redirects are not followed)'])
})

test('where the operator denies loopback addresses, functions and tool servers there are not reached', async () => {
  await using strict = await startServer({ TOOL_DENY: '127.0.0.0/8' })
  await using tools = await serveTools({ find: { description: 'x', answer: () => ({ content: [] }) } })
  const functions = [{ name: 'look', description: 'x', url: orders.url }]
  await makeAgent(strict, { model: 'script', functions })
  await strict.admin.post('/api/agents/assistant/mcp', { name: 'crm', url: tools.url, approval_mode: 'never' })
  const ann = await strict.person('Ann')
  const app = await chatWithAgent(ann)
  const before = orders.requests.length

  await ann.post(`/api/apps/${app}/messages`, { text: 'system\ncall look {}' })

  const [reply] = await answersIn(ann, app)
  expect(reply!.text).toContain('Its address may not be reached.')
  expect([orders.requests.length - before, tools.requests.length]).toEqual([0, 0])
})

const tool = { name: 'find.order', inputSchema: { type: 'object', properties: { id: { type: 'string' } } } }
const found = (params: Record<string, unknown>) => {
  return { content: [{ type: 'text', text: `Order ${(params.arguments as { id?: string }).id} is on its way` }] }
}
const hidden = { name: 'drop', inputSchema: { type: 'object', properties: {} } }

test.each([
  [
    'of today',
    () =>
      serveTools({
        'find.order': {
          description: 'Finds',
          schema: tool.inputSchema,
          answer: (args: object) => found({ arguments: args }),
        },
        drop: { description: 'Drops', answer: () => ({ content: [] }) },
      }),
  ],
  ['of 2025', () => serveLegacyTools([tool, hidden], found)],
  ['of 2024', () => serveOldTools([tool, hidden], found)],
])(
  'a tool server %s is called, and its result is in the next request; what is not allowed is not offered',
  async (_, serve) => {
    await using tools = await serve()
    const uid = await makeHelper({ servers: [{ name: 'crm', url: tools.url, allowed_tools: ['find.order'] }] })

    const answered = await ask(uid, call('crm__find_order', { id: '17' }), done)

    expect(answered.tools).toEqual(['crm__find_order'])
    expect(answered.results).toEqual(['Order 17 is on its way'])
    expect(answered.reply.text).toBe('Done.')
    const calls = tools.requests.filter(({ method }) => method === 'tools/call')
    expect(calls).toMatchObject([{ params: { name: 'find.order', arguments: { id: '17' } } }])
  },
)

test('a tool server that is down costs the model its tools, and it is told so', async () => {
  const uid = await makeHelper({ servers: [{ name: 'crm', url: 'http://127.0.0.1:1/mcp' }] })

  const { reply, requests, tools } = await ask(uid, done)

  expect(reply.text).toBe('Done.')
  expect(tools).toEqual([])
  expect(requests[0].messages[0].content).toContain('The tools of "crm" are not available now.')
})
