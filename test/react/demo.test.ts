import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servePages, type Pages } from '../../src/demo/pages.ts'
import { seed } from '../../src/demo/workspace.ts'
import { hasBrowser, inBrowser, launchBrowser, watchFaults } from '../support/browser.ts'
import { startServer, type Server } from '../support/server.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Finding {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

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

  /** What axe finds, and what is wider than the screen. */
  const look = async (page: Page): Promise<string[]> => {
    await page.addScriptTag({ content: axe })
    const findings = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: Finding[] }> } }
      return (await axe.run()).violations
    })
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    return [
      ...findings.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => html + failureSummary).join()}`,
      ),
      ...(excess > 0 ? [`${excess} px wider than the screen`] : []),
    ]
  }

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
    expect(await look(page)).toEqual([])

    await page.getByRole('button', { name: /Lobby/ }).click()
    await page.getByText('Who brings the cake?').last().waitFor()
    expect(await look(page)).toEqual([])

    await page.getByRole('button', { name: 'News', exact: true }).click()
    await page.getByRole('article').getByText('What shall we plant?').waitFor()
    await page.getByRole('button', { name: /Notifications/ }).click()
    expect(await look(page)).toEqual([])

    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Documents', exact: true }).click()
    await page.getByRole('link', { name: /notes\.md/ }).click()
    await page.getByRole('complementary').waitFor()
    expect(await look(page)).toEqual([])
    expect(faults).toEqual([])
    await context.close()
  })
})
