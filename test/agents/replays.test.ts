import { afterAll, beforeAll, expect, test } from 'vitest'
import { answersIn, chatWithAgent, makeAgent } from '../support/agents.ts'
import type { Body } from '../support/client.ts'
import { startFakeProvider, type FakeProvider } from '../support/fake-provider.ts'
import { startServer, type Server } from '../support/server.ts'
import { serveTools, type ToolServer } from '../support/tool-server.ts'
import { recorded } from './providers/recorded.ts'

let fake: FakeProvider
let tools: ToolServer
let server: Server

beforeAll(async () => {
  fake = await startFakeProvider()
  const look = { description: 'Finds an order', schema: { type: 'object' }, answer: () => ({ content: [] }) }
  tools = await serveTools({ get_order: look })
  server = await startServer({
    ANTHROPIC_URL: fake.url,
    GEMINI_URL: fake.url,
    OPENAI_URL: fake.url,
    OPENAI_FORM: 'responses',
  })
})

afterAll(async () => {
  for (const part of [server, tools, fake]) await part[Symbol.asyncDispose]()
})

/** What of a request a vendor must get back as it came, and where it stands. */
const expectations = {
  anthropic: {
    provider: 'anthropic',
    find: (body: Body) => body.messages.find(({ role }: Body) => role === 'assistant').content,
    kept: [
      { type: 'thinking', thinking: 'Größe 17…', signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h' },
      { type: 'text', text: 'Schau’n wir: 😀' },
      {
        type: 'tool_use',
        id: 'toolu_01T1x1fJ34qAmk2tNTrN7Up6',
        name: 'crm__get_order',
        input: { id: '17', note: 'größer' },
      },
    ],
  },
  responses: {
    provider: 'openai',
    find: (body: Body) => body.input.filter(({ type }: Body) => ['reasoning', 'function_call'].includes(type)),
    kept: [
      { id: 'rs_67ca', type: 'reasoning', summary: [], encrypted_content: 'gAAAAABn' },
      expect.objectContaining({ id: 'fc_67ca', call_id: 'call_u', name: 'crm__get_order', arguments: '{"id":"17"}' }),
    ],
  },
  gemini: {
    provider: 'gemini',
    find: (body: Body) => body.contents.find(({ role }: Body) => role === 'model').parts,
    kept: expect.arrayContaining([
      { functionCall: { name: 'crm__get_order', args: { id: '17' } }, thoughtSignature: 'CqMC' },
    ]),
  },
}

test.each(Object.keys(expectations) as (keyof typeof expectations)[])(
  '%s gets its own words back as they came, thoughts and signatures included, also after a wait for approval',
  async vendor => {
    const { provider, find, kept } = expectations[vendor]
    const uid = `helper-${vendor}`
    await makeAgent(server, { uid, name: 'Helper', provider })
    await server.admin.post(`/api/agents/${uid}/mcp`, { name: 'crm', url: tools.url })
    const ann = await server.person('Ann')
    const app = await chatWithAgent(ann, uid)
    const stream = recorded.find(one => one.vendor === vendor)!.body.replaceAll('get_order', 'crm__get_order')
    fake.queue({ stream }, { text: 'Done.' })

    await ann.post(`/api/apps/${app}/messages`, { text: 'Where is order 17?' })
    const [question] = await answersIn(ann, app, { agent: uid })
    await ann.post(`/api/options/${question!.options.data[0].id}/vote`)
    const answers = await answersIn(ann, app, { agent: uid, count: 2, timeoutMs: 10_000 })

    expect(answers.at(-1)!.text).toBe('Done.')
    expect(find(fake.requests.at(-1)!.body)).toEqual(kept)
  },
)
