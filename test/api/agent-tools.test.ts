import { expect, test } from 'vitest'
import { makeAgent } from '../support/agents.ts'
import { answer, startReceiver } from '../support/receiver.ts'
import { startServer } from '../support/server.ts'
import { noArguments, serveTools } from '../support/tool-server.ts'

const look = { description: 'Looks', answer: () => ({ content: [] }) }

test('an owner sees which tools a server has now, and which of them the agent may use', async () => {
  await using server = await startServer()
  await using tools = await serveTools({ look, drop: { ...look, description: 'Drops' } })
  const agent = await makeAgent(server)
  const configured = { name: 'crm', url: tools.url, allowed_tools: ['look'], headers: { 'x-key': 'abc' } }
  await server.admin.post(`/api/agents/${agent}/mcp`, configured)

  const { status, body } = await server.admin.get('/api/agents/assistant/mcp/crm/tools')

  expect(status).toBe(200)
  expect(body).toEqual([
    { name: 'look', description: 'Looks', input_schema: noArguments, is_allowed: true },
    { name: 'drop', description: 'Drops', input_schema: noArguments, is_allowed: false },
  ])
  expect(tools.requests[0]!.headers['x-key']).toBe('abc')
})

test('an owner learns in short why a tool server did not say what it has, and nobody else does', async () => {
  await using server = await startServer({ TOOL_DENY: '127.0.0.2/32' })
  await using receiver = await startReceiver(answer(401))
  const agent = await makeAgent(server)
  const ann = await server.person()
  for (const [name, url] of [
    ['locked', receiver.url],
    ['denied', 'http://127.0.0.2/mcp'],
    ['metadata', 'http://169.254.169.254/mcp'],
  ]) {
    await server.admin.post(`/api/agents/${agent}/mcp`, { name, url })
  }
  const list = (name: string) => server.admin.get(`/api/agents/${agent}/mcp/${name}/tools`)

  const outcomes = await Promise.all(['locked', 'denied', 'metadata'].map(list))

  expect(outcomes.map(({ status, body }) => [status, body.code, body.reason])).toEqual([
    [502, 'tool-server-failed', 'It refused the credentials (HTTP 401).'],
    [502, 'tool-server-failed', 'Its address may not be reached.'],
    [502, 'tool-server-failed', 'Its address may not be reached.'],
  ])
  expect((await list('other')).status).toBe(404)
  expect((await ann.get(`/api/agents/${agent}/mcp/locked/tools`)).status).toBe(403)
})

test('no function has the name of the search in files', async () => {
  await using server = await startServer()
  const agent = await makeAgent(server)
  const url = 'https://shop.example.com/'

  const added = await server.admin.post(`/api/agents/${agent}/functions`, {
    name: 'search_files',
    description: 'x',
    url,
  })

  expect([added.status, added.body.errors]).toEqual([422, { name: ['is reserved'] }])
})
