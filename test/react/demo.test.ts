import type { Browser } from 'playwright-core'
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
})
