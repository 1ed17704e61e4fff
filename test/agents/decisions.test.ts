import { expect, test } from 'vitest'
import { answersIn, makeAgent } from '../support/agents.ts'
import { client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { joinHub } from '../support/hub.ts'
import { kitOf, shapes } from '../support/kit.ts'
import { createDirectory, startProgram } from '../support/process.ts'
import { startServer, type Server } from '../support/server.ts'
import { serveTools, type ToolServer } from '../support/tool-server.ts'

const order = {
  description: 'Cancels an order',
  schema: { type: 'object', properties: { id: { type: 'string' } } },
  answer: ({ id }: { id: string }) => ({ content: [{ type: 'text', text: `Order ${id} is cancelled` }] }),
}

const serve = () => serveTools({ cancel_order: order })
const callsOf = (tools: ToolServer) => tools.requests.filter(({ method }) => method === 'tools/call')
const asking = 'say I would like to.\ncall crm__cancel_order {"id":"17"}'

/** A room of Ann, Ben and an agent, which asks Ann for her approval. */
async function askInRoom(server: Server, tools: ToolServer) {
  const agent = await makeAgent(server, { model: 'script' })
  await server.admin.post('/api/agents/assistant/mcp', { name: 'crm', url: tools.url })
  const { app, people } = await server.chatWith(2)
  await server.admin.put(`/api/apps/${app}/members/${agent}`, { access: 'write' })
  const [ann, ben] = people
  await ann.post(`/api/apps/${app}/messages`, { text: `[Assistant](@u${agent})\n${asking}` })
  const [question] = await answersIn(ann, app)
  const [approve, decline] = question!.options.data
  return { ann, ben, app, question: question!, approve, decline }
}

test('the vote of another, and another’s word, decide nothing; the asker’s vote to decline does, for good', async () => {
  await using tools = await serve()
  await using server = await startServer()
  const { ann, ben, app, question, approve, decline } = await askInRoom(server, tools)
  const { id } = question.metadata.tool_approval

  expect((await ben.post(`/api/options/${approve.id}/vote`)).status).toBe(200)
  await ben.post(`/api/apps/${app}/messages`, { text: 'Do it', metadata: { tool_approval: { id, approved: true } } })
  const refused = await ben.post(`/api/approvals/${id}`, { approved: true })
  const before = (await ann.get(`/api/approvals/${id}`)).body.state
  expect((await ann.post(`/api/options/${decline.id}/vote`)).status).toBe(200)
  const answers = await answersIn(ann, app, { count: 2, timeoutMs: 10_000 })
  const later = await ann.post(`/api/approvals/${id}`, { approved: true })

  expect([refused.status, before]).toEqual([403, 'pending'])
  expect(answers.at(-1)!.text).toContain('Ann declined')
  expect(later).toMatchObject({ status: 409, body: { code: 'already-decided' } })
  expect(callsOf(tools)).toEqual([])
  expect((await ann.get(`/api/messages/${question.id}`)).body.text).toMatch(/Declined by Ann\.$/)
})

test('the kit of the asker is told of the question as of any message with a poll, and of the answer to it', async () => {
  await using tools = await serve()
  await using server = await startServer()
  await makeAgent(server, { model: 'script' })
  await server.admin.post('/api/agents/assistant/mcp', { name: 'crm', url: tools.url })
  const ann = await server.person('Ann')
  const kit = kitOf(ann)
  const copilot = { members: ['assistant'], type: '2352e7c6-2d4f-4ee4-9bd2-8a4d6cbd0c4b' }
  const app = await kit.post('/api/apps', { ...copilot, type: 'agent_chat', uid: 'wy-copilot-1', name: 'Cancel' })
  await using hub = await joinHub(server.url, { token: () => ann.token })
  const [created, typing] = [`a${app.id}:message_created`, `a${app.id}:typing`]
  for (const name of [created, typing]) expect(await hub.subscribe(name)).toBe(true)
  const page = await kit.upload('context.txt', 'The page shows order 17')
  const isByAgent = ({ actor }: { actor: { uid?: string } }) => actor.uid === 'assistant'

  await kit.post(`/api/apps/${app.id}/messages`, {
    text: asking,
    blobs: [],
    options: [],
    embed_id: null,
    metadata: { instructions: 'Be brief.' },
    context: [page.id],
  })
  expect(await hub.hear(typing, isByAgent)).toMatchObject({ entity: { id: app.id, type: 'app' } })
  const { message: question } = await hub.hear(created, isByAgent)
  const [approve] = question.options.data
  await kit.post(`/api/options/${approve.id}/vote`)
  const { message: answer } = await hub.hear(created, isByAgent)

  expect(shapes.Message.parse(question).options!.data).toMatchObject([{ text: 'Approve' }, { text: 'Decline' }])
  expect(shapes.Message.parse(answer)).toMatchObject({ html: expect.stringContaining('Order 17 is cancelled') })
  const listed = await kit.list(`/api/apps/${app.id}/messages?order_by=id+desc&skip=0`)
  expect(listed.map(message => shapes.Message.parse(message).created_by.name)).toEqual([
    'Assistant',
    'Assistant',
    'Ann',
  ])
  expect(JSON.stringify([question, answer])).not.toContain('context.txt')
})

test.each([
  ['is called after the node was killed and started again', false],
  ['is not called where its server has moved meanwhile', true],
])(
  'what is approved %s',
  async (_, hasMoved) => {
    await using tools = await serve()
    await using other = await serve()
    await using database = await createDatabase()
    await using dir = createDirectory()
    const environment = { DATABASE_URL: database.url }
    await using first = await startProgram(dir, environment)
    await makeAgent(first, { model: 'script' })
    await first.admin.post('/api/agents/assistant/mcp', { name: 'crm', url: tools.url })
    const { body: user } = await first.admin.post('/api/users', { uid: 'ann', name: 'Ann' })
    const { body: token } = await first.admin.post(`/api/users/${user.id}/tokens`)
    const before = client(first.url, token.access_token)
    const { body: app } = await before.post('/api/apps', { type: 'agent_chat', members: ['assistant'] })
    await before.post(`/api/apps/${app.id}/messages`, { text: asking })
    const [question] = await answersIn(before, app.id, { timeoutMs: 20_000 })
    first.kill('SIGKILL')
    await first.ended

    await using second = await startProgram(dir, environment)
    if (hasMoved) await second.admin.patch('/api/agents/assistant/mcp/crm', { url: other.url })
    const after = client(second.url, token.access_token)
    // It may have been killed before it let go of the run, behind the question.
    await database.sql`update agent_runs set leased_until = now() where state = 'running'`
    await after.post(`/api/options/${question!.options.data[0].id}/vote`)
    const answers = await answersIn(after, app.id, { count: 2, timeoutMs: 20_000 })

    expect(callsOf(other)).toEqual([])
    expect(callsOf(tools)).toHaveLength(hasMoved ? 0 : 1)
    expect(answers.at(-1)!.text).toContain(hasMoved ? 'changed since' : 'Order 17 is cancelled')
  },
  90_000,
)
