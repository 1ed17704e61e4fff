import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { makeAgent } from '../support/agents.ts'
import { hasBrowser, inBrowser, Kit } from '../support/browser.ts'
import { startFakeProvider, type FakeProvider } from '../support/fake-provider.ts'
import { serveTools, type ToolServer } from '../support/tool-server.ts'

const cancelOrder = {
  description: 'Cancels an order',
  schema: { type: 'object', properties: { id: { type: 'string' } } },
  answer: ({ id }: { id: string }) => ({ content: [{ type: 'text', text: `Order ${id} is cancelled` }] }),
}

/** Long enough to see that the agent is typing, which the kit shows for 5 s. */
const thinkingMs = 4_000

describe.skipIf(!hasBrowser)('the copilot of the unmodified UI kit, in a browser', inBrowser, () => {
  let kit: Kit
  let fake: FakeProvider
  let tools: ToolServer
  beforeAll(async () => {
    fake = await startFakeProvider()
    tools = await serveTools({ cancel_order: cancelOrder })
    kit = await Kit.start({ OPENAI_URL: fake.url })
    await makeAgent(kit.server, { provider: 'openai' })
    await kit.server.admin.post('/api/agents/assistant/mcp', { name: 'crm', url: tools.url })
  })
  afterEach(async context => {
    expect(await kit.clear(context)).toEqual([])
  })
  afterAll(async () => {
    for (const part of [kit, tools, fake]) await part[Symbol.asyncDispose]()
  })

  test('shows that the agent is at work, then its answer, and has a conversation called after the question', async () => {
    const ann = await kit.server.person('Ann')
    const page = await kit.show(ann, '<wy-copilot agent="assistant" style="flex:1"></wy-copilot>')
    fake.queue({ text: 'Time for **tea**.', delayMs: thinkingMs })

    await say(page, 'What is the time?')

    await page.locator('wy-message').getByText('What is the time?').waitFor()
    await page.locator('wy-message-typing svg').first().waitFor()
    await page.locator('wy-message strong').getByText('tea').waitFor()
    await page.locator('wy-message-typing svg').first().waitFor({ state: 'detached' })
    expect((await ann.get('/api/apps?member=assistant')).body.data).toMatchObject([{ name: 'What is the time?' }])
  })

  test('shows the first answer of an agent that answers at once', async () => {
    const ann = await kit.server.person('Ann')
    const page = await kit.show(ann, '<wy-copilot agent="assistant" style="flex:1"></wy-copilot>')
    fake.queue({ text: 'I knew that.' })

    await say(page, 'Did you know?')

    await page.locator('wy-message').getByText('I knew that.').waitFor()
  })

  test('lets the person who asked approve a call of the agent, by the poll that it shows', async () => {
    const ann = await kit.server.person('Ann')
    const page = await kit.show(ann, '<wy-copilot agent="assistant" style="flex:1"></wy-copilot>')
    const call = { id: 'call_1', name: 'crm__cancel_order', arguments: { id: '17' } }
    fake.queue({ text: 'I would like to.', calls: [call] }, { text: 'It is done.' })
    const calls = () => tools.requests.filter(({ method }) => method === 'tools/call')

    await say(page, 'Cancel order 17')
    const question = page.locator('wy-message').filter({ hasText: 'May I use' })
    await question.getByText('Approve', { exact: true }).waitFor()
    expect(calls()).toEqual([])
    await question.getByText('Approve', { exact: true }).click()

    await page.locator('wy-message').getByText('It is done.').waitFor()
    expect(calls()).toMatchObject([{ params: { name: 'cancel_order', arguments: { id: '17' } } }])
  })
})

async function say(page: Page, text: string): Promise<void> {
  const editor = page.locator('.cm-content').first()
  await editor.click()
  await page.keyboard.type(text)
  // The kit makes its editor anew while it loads.
  await editor.getByText(text).waitFor()
  await page.locator('wy-button[title=Send] button').click()
}
