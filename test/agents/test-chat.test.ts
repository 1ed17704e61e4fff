import { expect, test } from 'vitest'
import { makeAgent } from '../support/agents.ts'
import { startFakeProvider } from '../support/fake-provider.ts'
import { answer, startReceiver } from '../support/receiver.ts'
import { startServer, type Server } from '../support/server.ts'
import { serveTools } from '../support/tool-server.ts'

const find = (url: string) => ({ name: 'find', description: 'Finds an order', url: `${url}/{id}` })

test('an owner tries an agent, which answers as in a chat and writes nothing', async () => {
  await using server = await startServer()
  await makeAgent(server, { model: 'script', instructions: 'Be brief.' })
  await server.person('Ann')

  const { status, body } = await server.admin.post('/api/agents/assistant/test', {
    text: 'history\ntokens 7 5\nsay Done.',
    history: [
      { role: 'user', text: 'Hello' },
      { role: 'agent', text: 'Good morning' },
    ],
  })

  expect(status).toBe(200)
  expect(body).toMatchObject({ usage: { input: '7', output: '5', cached: '0' }, duration: expect.any(String) })
  expect(body.text).toMatch(/Hello[\s\S]*Good morning[\s\S]*Done\./)
  expect(body.system).toMatch(/^Be brief\.\n\nYou are Assistant/)
  expect((await server.admin.get('/api/runs')).body.count).toBe('0')
  expect((await server.admin.get('/api/messages')).body.count).toBe('0')
})

test('other instructions and another asker can be tried than there are', async () => {
  await using server = await startServer()
  await makeAgent(server, { model: 'echo', instructions: 'Be brief.' })
  const ann = await server.person('Ann')

  const { body } = await server.admin.post('/api/agents/assistant/test', {
    text: 'Hello',
    user: ann.uid,
    instructions: 'Speak in rhymes.',
  })
  const unknown = await server.admin.post('/api/agents/assistant/test', { text: 'Hello', user: 'nobody' })
  const none = await server.admin.post('/api/agents/nobody/test', { text: 'Hello' })

  expect(body.text).toContain('> Hello')
  expect(body.system).toContain('Speak in rhymes.')
  expect(body.system).toContain('You answer Ann.')
  expect(body.system).not.toContain('Be brief.')
  expect(unknown).toMatchObject({ status: 422, body: { errors: { user: [expect.any(String)] } } })
  expect(none.status).toBe(404)
})

test('tools are listed and not called, unless they are asked for or left out', async () => {
  await using server = await startServer()
  await using orders = await startReceiver(answer(200, 'sent'))
  await using crm = await serveTools({
    cancel: { description: 'Cancels', schema: { type: 'object' }, answer: () => ({ content: [] }) },
  })
  await makeAgent(server, { model: 'script', functions: [{ ...find(orders.url), parameters: { type: 'object' } }] })
  await server.admin.post('/api/agents/assistant/mcp', { name: 'crm', url: crm.url })
  const ask = async (tools?: string) => {
    const text = 'call find {"id":17}\ncall crm__cancel {}'
    return (await server.admin.post('/api/agents/assistant/test', { text, tools })).body
  }
  const called = () => crm.requests.filter(({ method }) => method === 'tools/call').length

  const dry = await ask()
  const before = { orders: orders.requests.length, crm: called() }
  const real = await ask('real')
  const none = await ask('none')

  expect(before).toEqual({ orders: 0, crm: 0 })
  expect(dry.text).toContain('(not called in this test)')
  expect(dry.steps).toEqual([
    { kind: 'function', name: 'find', arguments: { id: 17 }, outcome: 'skipped' },
    { kind: 'mcp', name: 'crm__cancel', arguments: {}, outcome: 'skipped' },
  ])
  expect(called()).toBe(1)
  expect(real.steps).toMatchObject([{ name: 'find', result: expect.stringContaining('sent'), outcome: 'ok' }, {}])
  const [{ headers }] = await orders.take(1)
  expect(headers['x-service-run']).toMatch(/^test-/)
  expect(headers).not.toHaveProperty('x-service-app')
  expect(none.steps).toBeUndefined()
})

test('what a provider says is wrong is shown to owners, without keys', async () => {
  await using provider = await startFakeProvider({
    status: 400,
    body: { error: { message: 'There is no model nosuch for key sk-secret-key' } },
  })
  await using server = await startServer({ OPENAI_URL: `${provider.url}/v1`, OPENAI_API_KEY: 'sk-secret-key' })
  await makeAgent(server, { provider: 'openai', model: 'nosuch' })
  await makeAgent(server, { uid: 'other', provider: 'anthropic', model: 'any' })

  const refused = (await server.admin.post('/api/agents/assistant/test', { text: 'Hello' })).body
  const missing = (await server.admin.post('/api/agents/other/test', { text: 'Hello' })).body

  expect(refused).toMatchObject({ text: '', error: 'provider_error', detail: expect.stringContaining('nosuch') })
  expect(JSON.stringify(refused)).not.toContain('sk-secret-key')
  expect(missing).toMatchObject({ error: 'provider_not_configured', detail: expect.stringContaining('anthropic') })
})

test('a test can be followed as events while it is answered', async () => {
  await using server = await startServer()
  await using orders = await startReceiver(answer(200, 'sent'))
  await makeAgent(server, { model: 'script', functions: [find(orders.url)] })

  const response = await follow(server, 'say First\ncall find {"id":17}\nsay Second')
  const events = toEvents(await response.text())

  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const names = events.map(({ name }) => name)
  expect(names.indexOf('delta')).toBeLessThan(names.indexOf('step'))
  expect(names.at(-1)).toBe('end')
  expect(events.find(({ name }) => name === 'step')!.data).toMatchObject({ name: 'find', outcome: 'skipped' })
  expect(events.at(-1)!.data).toMatchObject({ text: expect.stringContaining('Second'), steps: [{ name: 'find' }] })
})

test('when the owner goes away, the provider’s connection is closed', async () => {
  await using provider = await startFakeProvider({ hang: true })
  await using server = await startServer({ OPENAI_URL: `${provider.url}/v1` })
  await makeAgent(server, { provider: 'openai', model: 'any' })
  const leaving = new AbortController()

  const response = await follow(server, 'Hello', leaving.signal)
  await provider.take(1)
  leaving.abort()

  await expect(response.text()).rejects.toThrow()
  await expect.poll(() => provider.cutByClient, { timeout: 5_000 }).toBe(1)
})

function follow(server: Server, text: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${server.url}/api/agents/assistant/test`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.key}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ text }),
    ...(signal && { signal }),
  })
}

function toEvents(text: string) {
  return Array.from(text.matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm), ([, name, data]) => {
    return { name, data: JSON.parse(data!) as unknown }
  })
}
