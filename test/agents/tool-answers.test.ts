import { expect, test } from 'vitest'
import { answersIn, chatWithAgent, makeAgent } from '../support/agents.ts'
import { answer, startReceiver } from '../support/receiver.ts'
import { eventually } from '../support/eventually.ts'
import { startServer, type Server } from '../support/server.ts'
import { listen } from '../support/realtime.ts'
import { noArguments, serveLegacyTools } from '../support/tool-server.ts'
import { payloadOf, register } from '../support/webhooks.ts'
import { upload } from '../support/uploads.ts'

const json = { 'content-type': 'application/json' }

test('an agent calls functions and tools of servers, and answers with what they say', async () => {
  await using server = await startServer({ FUNCTION_SECRET: 'a secret of sixteen' })
  await using orders = await startReceiver(answer(200, '{ "state": "sent" }', json))
  await using crm = await serveLegacyTools([{ name: 'look', inputSchema: noArguments }], () => ({
    content: [{ type: 'text', text: 'Ann is a customer' }],
  }))
  const find = { name: 'find', description: 'Finds an order', url: `${orders.url}/{id}` }
  const agent = await makeAgent(server, { model: 'script', functions: [{ ...find, parameters: { type: 'object' } }] })
  await server.admin.post(`/api/agents/${agent}/mcp`, { name: 'crm', url: crm.url, approval_mode: 'never' })

  const text = await ask(server, 'call find {"id":17}\ncall crm__look {}')

  expect(text).toContain('{"state":"sent"}')
  expect(text).toContain('Ann is a customer')
  const [{ path, headers }] = await orders.take(1)
  expect(path).toBe('/hook/17')
  expect(headers).toMatchObject({ 'x-service-agent': 'assistant', 'webhook-signature': expect.stringMatching(/^v1,/) })
})

test('a tool server that is down costs an answer nothing but its tools', async () => {
  await using server = await startServer()
  const agent = await makeAgent(server, { model: 'script' })
  await server.admin.post(`/api/agents/${agent}/mcp`, { name: 'crm', url: 'http://127.0.0.1:1/mcp' })

  const text = await ask(server, 'system\nsay Still here')

  expect(text).toContain('The tools of "crm" are not available now.')
  expect(text).toContain('Still here')
})

test('an answer shows the files that it cites, numbered in the order in which it cites them', async () => {
  await using server = await startServer()
  const { ids } = await makeReader(server, {
    'leave.txt': 'Parental leave takes 14 weeks.',
    'sick.txt': 'Sick leave is paid for six weeks.',
  })
  await using receiver = await startReceiver()
  await register(server, receiver.url)
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  await using watching = await listen(server.url, { token: ann.token })
  await watching.subscribe(app)

  await ann.post(`/api/apps/${app}/messages`, {
    text: 'call search_files {"query":"parental"}\nsay It takes 14 weeks [1].',
  })

  const [reply] = await answersIn(ann, app, { timeoutMs: 20_000 })
  expect(reply!.annotations.data).toMatchObject([{ id: ids[0], name: 'leave.txt' }])
  expect(reply!.annotations.data[0].download_url).toBeUndefined()
  const { message } = await watching.hear('event', ({ actor }) => actor.uid === 'assistant')
  expect(message.annotations.data).toMatchObject([{ id: ids[0], name: 'leave.txt' }])
  expect(Object.keys(message.annotations.data[0]).filter(name => name.endsWith('_url'))).toEqual([])
  const told = (await receiver.take(2)).map(payloadOf)
  expect(told.map(({ message }) => message.annotations)).toEqual([undefined, undefined])
})

test('passages of several searches in one round have numbers of their own', async () => {
  await using server = await startServer()
  const { ids } = await makeReader(server, {
    'moon.txt': 'The lander weighs nine tonnes.',
    'mars.txt': 'The rover weighs one tonne.',
  })
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)

  await ann.post(`/api/apps/${app}/messages`, {
    text: 'call search_files {"query":"lander"}\ncall search_files {"query":"rover"}\nsay The second one [4].',
  })

  const [reply] = await answersIn(ann, app, { timeoutMs: 20_000 })
  // The question itself was searched before, and has found both: these are 3 and 4, and shown as the first files cited.
  const titles = [...reply!.text.matchAll(/^\[(\d)\] (\w+\.txt)$/gm)].map(([, n, name]) => `${n} ${name}`)
  expect(titles).toEqual(['1 moon.txt', '2 mars.txt'])
  expect(reply!.text).toContain('The second one [2].')
  expect(reply!.annotations.data.map(({ id }: { id: string }) => id)).toEqual(ids)
})

test('the text of an attachment reaches the model, and a large file is only named', async () => {
  await using server = await startServer()
  await makeAgent(server, { model: 'script' })
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  const { body: small } = await upload(ann, {
    name: 'plan.html',
    content: '<p>Meet at <b>noon</b></p><script>no()</script>',
  })
  const { body: large } = await upload(ann, { name: 'large.txt', content: `needle ${'x'.repeat(6 * 1024 * 1024)}` })

  await ann.post(`/api/apps/${app}/messages`, { text: 'history', blobs: [small.id, large.id] })

  const [reply] = await answersIn(ann, app, { timeoutMs: 20_000 })
  expect(reply!.text).toContain('Meet at noon')
  expect(reply!.text).toContain('[file: large.txt, 6')
  expect(reply!.text).not.toContain('needle')
})

/** An agent of the model `script` that can search some files; their ids in the order of their names. */
async function makeReader(server: Server, files: Record<string, string>) {
  const { body: library } = await server.admin.post('/api/apps', { type: 'files', name: 'Library' })
  const agent = await makeAgent(server, { model: 'script', knowledge: [library.id] })
  const ids: string[] = []
  for (const [name, content] of Object.entries(files)) {
    const { body: blob } = await upload(server.admin, { name, content })
    const { body: file } = await server.admin.post(`/api/apps/${library.id}/files`, { blob_id: blob.id })
    ids.push(file.id)
  }
  await eventually(
    async () => {
      const { body } = await server.admin.get(`/api/agents/${agent}/knowledge`)
      expect((body.data ?? []).map(({ state }: { state: string }) => state)).toEqual(ids.map(() => 'indexed'))
    },
    { timeoutMs: 30_000, everyMs: 100 },
  )
  return { agent, ids }
}

/** What an agent answers to a question in a chat of its own. */
async function ask(server: Server, text: string): Promise<string> {
  const ann = await server.person('Ann')
  const app = await chatWithAgent(ann)
  await ann.post(`/api/apps/${app}/messages`, { text })
  const [reply] = await answersIn(ann, app, { timeoutMs: 20_000 })
  return reply!.text
}
