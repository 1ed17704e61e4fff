import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, inBrowser, Kit } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import type { Person } from '../support/server.ts'

/** What one person sees. */
interface Seat {
  person: Person
  chat: Page
  messenger: Page
}

describe.skipIf(!hasBrowser)('the unmodified UI kit, when its connection is lost', inBrowser, () => {
  let kit: Kit
  beforeAll(async () => {
    kit = await Kit.start()
  })
  afterEach(async context => {
    // Requests fail here, and the kit says so.
    await kit.clear(context)
    await kit.server.admin.delete('/api/apps/demo-chat')
  })
  afterAll(() => kit[Symbol.asyncDispose]())

  /** Ann and Ben, each with a chat and the conversation that they have with each other in the messenger. */
  async function sitDown(): Promise<{ ann: Seat; ben: Seat; lobby: string; pair: string }> {
    const [ann, ben] = await Promise.all([kit.server.person('Ann'), kit.server.person('Ben')])
    const { body: lobby } = await ann.put('/api/apps/demo-chat', { type: 'chat', name: 'Lobby' })
    await ben.put('/api/apps/demo-chat', { type: 'chat', name: 'Lobby' })
    const { body: pair } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })
    for (const app of [lobby.id, pair.id]) await ann.post(`/api/apps/${app}/messages`, { text: 'Hello' })
    const seat = async (person: Person) => {
      const [chat, messenger] = [await kit.show(person, 'chat'), await kit.show(person, 'messenger')]
      await messenger.locator('wy-conversation-item').first().click()
      for (const page of [chat, messenger]) await page.locator('wy-message').getByText('Hello').waitFor()
      return { person, chat, messenger }
    }
    return { ann: await seat(ann), ben: await seat(ben), lobby: lobby.id, pair: pair.id }
  }

  /** What one writes through the API appears on these pages. The kit does not ask for what it missed. */
  async function expectHeard(by: Person, app: string, pages: Page[], text: string) {
    const isHeard = async () => {
      await by.post(`/api/apps/${app}/messages`, { text })
      for (const page of pages) {
        expect(await page.locator('wy-message').getByText(text).count(), `${text}, ${page.url()}`).toBeGreaterThan(0)
      }
    }
    await eventually(isHeard, { timeoutMs: 30_000, everyMs: 500 })
  }

  /** What is written, typed and done by one is seen by the other, in both directions and both components. */
  async function expectLive({ ann, ben, lobby, pair }: Awaited<ReturnType<typeof sitDown>>, word: string) {
    for (const [from, to] of [
      [ann, ben],
      [ben, ann],
    ] as const) {
      const text = `${word} from ${from.person.uid}`
      for (const [app, view] of [
        [lobby, 'chat'],
        [pair, 'messenger'],
      ] as const) {
        await expectHeard(from.person, app, [from[view], to[view]], text)
        await from[view].locator('.cm-content').first().click()
        const isTyping = async () => {
          await from[view].keyboard.type('.')
          expect(await to[view].locator('wy-message-typing svg').count(), `typing, ${view}`).toBeGreaterThan(0)
        }
        await eventually(isTyping, { timeoutMs: 20_000, everyMs: 300 })
        await write(from[view], text)
        await to[view].locator('wy-message').getByText(`.${text}`).waitFor()
      }
      await to.messenger.locator(active).first().waitFor()
    }
  }

  test('who was cut off for some seconds is live again by themselves', { timeout: 120_000 }, async () => {
    const seats = await sitDown()
    await expectLive(seats, 'before')
    const attempts = countAttempts(seats)

    kit.network.lose()
    // The kit tries at once, and then after two seconds.
    await eventually(() => expect(Math.min(...attempts())).toBeGreaterThan(1), { timeoutMs: 30_000 })
    kit.network.restore()

    await expectLive(seats, 'after')
  })

  test('who hears nothing more of a network that says nothing is live again', { timeout: 180_000 }, async () => {
    const seats = await sitDown()
    await expectLive(seats, 'before')
    const attempts = countAttempts(seats)

    kit.network.silence()
    // The kit notices it by itself, after thirty seconds in which it heard nothing.
    await eventually(() => expect(Math.min(...attempts())).toBeGreaterThan(0), { timeoutMs: 90_000, everyMs: 200 })
    kit.network.restore()

    await expectLive(seats, 'after')
  })

  test('who lost their token is live again with a fresh one', { timeout: 120_000 }, async () => {
    const seats = await sitDown()
    const { ann, ben, lobby, pair } = seats
    await expectLive(seats, 'before')

    await kit.server.admin.delete(`/api/users/${ben.person.id}/tokens`)

    await expectHeard(ann.person, lobby, [ben.chat], 'Still with us?')
    await expectHeard(ann.person, pair, [ben.messenger], 'Still with me?')
    await write(ben.chat, 'I am')
    await ann.chat.locator('wy-message').getByText('I am', { exact: true }).waitFor()
  })
})

/** How often each page of these people has asked for a new connection since. */
function countAttempts({ ann, ben }: { ann: Seat; ben: Seat }): () => number[] {
  const pages = [ann, ben].flatMap(({ chat, messenger }) => [chat, messenger])
  const attempts = new Map(pages.map(page => [page, 0]))
  for (const page of pages) {
    page.on('request', request => {
      const isAttempt = request.method() === 'POST' && request.url().includes('/hubs/rtm/negotiate')
      if (isAttempt) attempts.set(page, attempts.get(page)! + 1)
    })
  }
  return () => [...attempts.values()]
}

/** Somebody is shown as being here. */
const active = '[part~=wy-presence-active]'

async function write(page: Page, text: string): Promise<void> {
  await page.locator('.cm-content').first().click()
  await page.keyboard.type(text)
  await page.locator('wy-button[title=Send] button').click()
}
