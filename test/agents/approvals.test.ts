import { expect, test } from 'vitest'
import { allAnswered, answersIn, chatWithAgent, makeAgent } from '../support/agents.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { serveTools, type ToolServer } from '../support/tool-server.ts'

const order = {
  description: 'Cancels an order',
  schema: { type: 'object', properties: { id: { type: 'string' } } },
  answer: ({ id }: { id: string }) => ({ content: [{ type: 'text', text: `Order ${id} is cancelled` }] }),
}

const serve = () => serveTools({ cancel_order: order })

/** An agent with a tool that has to be approved, and what it has asked for. */
async function askFor(server: Server, tools: ToolServer) {
  await makeAgent(server, { model: 'script' })
  await server.admin.post('/api/agents/assistant/mcp', { name: 'crm', url: tools.url })
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  await ann.post(`/api/apps/${app}/messages`, { text: 'say I would like to.\ncall crm__cancel_order {"id":"17"}' })
  const [question] = await answersIn(ann, app)
  return { ann, app, question }
}

const called = (tools: ToolServer) => tools.requests.filter(({ method }) => method === 'tools/call')

const answerAfter = async (ann: Person, app: string) =>
  (await answersIn(ann, app, { count: 2, timeoutMs: 10_000 })).at(-1)

test('a call that needs approval is asked for with a poll, and made with what was approved by the vote of the asker', async () => {
  await using tools = await serve()
  await using server = await startServer()
  const { ann, app, question } = await askFor(server, tools)
  const [approve] = question.options.data

  const before = called(tools).length
  await ann.post(`/api/options/${approve.id}/vote`)
  const answer = await answerAfter(ann, app)

  expect(before).toBe(0)
  expect(question.text).toContain('May I use **cancel\\_order** of **crm**?')
  expect(question.options.data.map(({ text }: { text: string }) => text)).toEqual(['Approve', 'Decline'])
  expect(question.metadata.tool_approval).toMatchObject({
    server: 'crm',
    tool: 'cancel_order',
    arguments: { id: '17' },
    state: 'pending',
  })
  expect(called(tools)).toMatchObject([{ params: { arguments: { id: '17' } } }])
  expect(answer.text).toContain('Order 17 is cancelled')
  const { body: settled } = await ann.get(`/api/messages/${question.id}`)
  expect(settled.text).toMatch(/Approved by Ann\.$/)
  expect(settled).toMatchObject({ options: { count: '0' }, metadata: { tool_approval: { state: 'approved' } } })
})

test('nobody but the asker and API keys decides, the first decision counts, and what is declined is not called', async () => {
  await using tools = await serve()
  await using server = await startServer()
  const { ann, app, question } = await askFor(server, tools)
  const ben = await server.person('Ben')
  const path = `/api/approvals/${question.metadata.tool_approval.id}`

  const foreign = await ben.post(path, { approved: true })
  const declined = await ann.post(path, { approved: false, note: 'not this one' })
  const again = await server.admin.post(path, { approved: true })
  const answer = await answerAfter(ann, app)

  expect(foreign.status).toBe(404)
  expect(declined).toMatchObject({ status: 200, body: { state: 'declined', decided_by: { uid: ann.uid } } })
  expect(again).toMatchObject({ status: 409, body: { code: 'already-decided' } })
  expect(called(tools)).toEqual([])
  expect(answer.text).toContain('Ann declined: not this one')
})

test('an item of the asker that says so approves, and asks for nothing itself', async () => {
  await using tools = await serve()
  await using server = await startServer()
  const { ann, app, question } = await askFor(server, tools)
  const { id } = question.metadata.tool_approval

  await ann.post(`/api/apps/${app}/messages`, { text: 'Yes', metadata: { tool_approval: { id, approved: true } } })
  await answerAfter(ann, app)
  await allAnswered(server)

  expect(called(tools)).toHaveLength(1)
  expect((await server.admin.get('/api/runs')).body.count).toBe('1')
})

test('what was approved is not called after its server’s address has changed, also by another node', async () => {
  await using tools = await serve()
  await using other = await serve()
  await using database = await createDatabase()
  const environment = { DATABASE_URL: database.url }
  const first = await startServer(environment)
  const { question } = await askFor(first, tools)
  await eventually(async () => expect((await first.admin.get('/api/runs?state=waiting')).body.count).toBe('1'))
  await first[Symbol.asyncDispose]()
  await using second = await startServer(environment)
  await second.admin.patch('/api/agents/assistant/mcp/crm', { url: other.url })

  await second.admin.post(`/api/approvals/${question.metadata.tool_approval.id}`, { approved: true })
  const answer = await eventually(
    async () => {
      const { body } = await second.admin.get(`/api/apps/${question.app.id}/messages?order_by=id&take=100`)
      expect(body.data.length).toBe(3)
      return body.data.at(-1)
    },
    { timeoutMs: 10_000 },
  )

  expect([...called(tools), ...called(other)]).toEqual([])
  expect(answer.text).toContain('changed since')
})

test('an agent that goes to the trash while it waits for approval makes no call, and nothing is left to decide', async () => {
  await using tools = await serve()
  await using server = await startServer()
  const { ann, question } = await askFor(server, tools)
  const { id } = question.metadata.tool_approval

  await server.admin.post('/api/agents/assistant/trash')

  await eventually(async () => expect((await ann.get(`/api/approvals/${id}`)).body.state).toBe('declined'))
  expect(await ann.post(`/api/approvals/${id}`, { approved: true })).toMatchObject({ status: 409 })
  expect(called(tools)).toEqual([])
})
