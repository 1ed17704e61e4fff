import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servePages, type Pages } from '../../src/demo/pages.ts'
import { seed } from '../../src/demo/workspace.ts'
import { findFaultsNow } from '../support/axe.ts'
import { hasBrowser, inBrowser, launchBrowser, watchFaults } from '../support/browser.ts'
import { startServer, type Server } from '../support/server.ts'

const looks = [320, 375, 1280].flatMap(width => (['light', 'dark'] as const).map(scheme => ({ width, scheme })))

describe.skipIf(!hasBrowser)('the demo', inBrowser, () => {
  let server: Server
  let browser: Browser
  let pages: Pages
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer({ ASSISTANT_PROVIDER: 'builtin' }), launchBrowser()])
    await seed({ url: server.url, key: server.key })
    pages = await servePages({ server: server.url, key: server.key, port: 0, people: [] })
  })
  afterAll(async () => {
    await browser.close()
    await pages.close()
    await server[Symbol.asyncDispose]()
  })

  test.each(looks)('axe finds nothing at $width px, $scheme, and nothing is wider', async ({ width, scheme }) => {
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      colorScheme: scheme,
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    page.setDefaultTimeout(15_000)
    const faults: string[] = []
    watchFaults(page, fault => faults.push(fault))
    await page.goto(`${pages.url}/workspace?user=ada`)
    await page.getByRole('button', { name: /Lobby/ }).waitFor()
    expect(await findFaultsNow(page)).toEqual([])

    await page.getByRole('button', { name: /Lobby/ }).click()
    await page.getByText('Who brings the cake?').last().waitFor()
    expect(await findFaultsNow(page)).toEqual([])

    await page.getByRole('button', { name: 'News', exact: true }).click()
    await page.getByRole('article').getByText('What shall we plant?').waitFor()
    await page.getByRole('button', { name: /Notifications/ }).click()
    expect(await findFaultsNow(page)).toEqual([])

    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Documents', exact: true }).click()
    await page.getByRole('link', { name: /notes\.md/ }).click()
    await page.getByRole('complementary').waitFor()
    expect(await findFaultsNow(page)).toEqual([])
    expect(faults).toEqual([])
    await context.close()
  })

  test('keys alone do everything', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' })
    page.setDefaultTimeout(15_000)
    const faults: string[] = []
    watchFaults(page, fault => faults.push(fault))
    await page.goto(`${pages.url}/workspace?user=ada`)
    const log = page.getByRole('log', { name: 'Messages' })
    const field = page.getByRole('textbox', { name: 'Write a message' })
    const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' })
    const press = async (target: Locator) => {
      await reach(page, target)
      await page.keyboard.press('Enter')
    }

    await press(button(/Lobby/))
    await reach(page, field)
    await page.keyboard.type('By keys')
    await page.keyboard.press('Enter')
    const own = log.getByRole('article', { name: /By keys/ })
    await own.and(page.locator('[data-state=settled]')).waitFor()

    await reach(page, log)
    await page.keyboard.press('ArrowUp')
    await own.and(page.locator(':focus')).waitFor()
    await press(own.getByRole('button', { name: 'React', exact: true }))
    await press(own.getByRole('button', { name: 'React with 🎉' }))
    await own.getByRole('list', { name: 'Reactions' }).waitFor()

    await press(own.getByRole('button', { name: 'Edit' }))
    await page.keyboard.press('End')
    await page.keyboard.type(' alone')
    await page.keyboard.press('Enter')
    await own.getByText('By keys alone').waitFor()
    await own.and(page.locator(':focus')).waitFor()

    await press(own.getByRole('button', { name: 'Delete' }))
    await own.waitFor({ state: 'detached' })
    // The focus goes to the message before it, not to the beginning of the page.
    await log.getByRole('article').last().and(page.locator(':focus')).waitFor()

    await press(log.getByRole('button', { name: /^Ada/ }).first())
    await log.getByRole('button', { name: /^Ada/, pressed: true }).waitFor()

    const chosen = page.waitForEvent('filechooser')
    await press(button('Attach files'))
    await (await chosen).setFiles({ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('A plan') })
    await page.getByRole('list', { name: 'Attachments' }).getByText('plan.txt').waitFor()
    await press(button('Send'))
    await log.getByRole('link', { name: /plan\.txt/ }).waitFor()

    await press(button(/Launch/))
    await page.getByRole('heading', { name: 'Launch' }).waitFor()

    await press(button(/^Notifications/))
    await page.getByRole('region', { name: 'Notifications' }).waitFor()
    await page.keyboard.press('Escape')
    await button(/^Notifications/)
      .and(page.locator(':focus'))
      .waitFor()

    await press(button('News'))
    await press(
      page
        .getByRole('article')
        .first()
        .getByRole('button', { name: /comments?$/ }),
    )
    await reach(page, page.getByRole('textbox', { name: 'Write a comment' }))
    await page.keyboard.type('Said by keys')
    await page.keyboard.press('Enter')
    await page.getByRole('article', { name: /Said by keys/ }).waitFor()
    expect(faults).toEqual([])
    await page.close()
  })
})

/** Goes to an element by Tab, in the direction in which it is. */
async function reach(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  // Once found: to find it by its role at each step takes most of the time.
  const found = (await target.elementHandle())!
  const isAhead = await found.evaluate(
    element => ((document.activeElement ?? document.body).compareDocumentPosition(element) & 4) !== 0,
  )
  for (let steps = 0; steps < 150; steps++) {
    if (await found.evaluate(element => element === document.activeElement)) return
    await page.keyboard.press(isAhead ? 'Tab' : 'Shift+Tab')
  }
  throw new Error(`Tab does not lead to ${target}`)
}
