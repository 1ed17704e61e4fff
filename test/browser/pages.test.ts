import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFaults, findOverflow } from '../support/axe.ts'
import { hasBrowser, inBrowser, launchBrowser, watchFaults } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { startServer, type Server } from '../support/server.ts'

/** Pages that differ in what they are made of: code, wide tables, pictures, results, operations, shapes. */
const kinds = [
  ...['/', '/docs', '/docs/get-started', '/docs/concepts', '/docs/settings', '/docs/realtime', '/docs?q=backup'],
  ...['/api/docs', '/api/docs/messages', '/api/docs/embeds', '/api/docs/webhooks', '/api/docs/shapes'],
]

const firstPaint = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0`

describe.skipIf(!hasBrowser)('the first page, the guides and the reference', inBrowser, () => {
  let server: Server
  let browser: Browser
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer(), launchBrowser()])
  })
  afterAll(async () => {
    await browser.close()
    await server[Symbol.asyncDispose]()
  })

  const open = async (width: number) => {
    const context = await browser.newContext({ viewport: { width, height: 800 } })
    const faults: string[] = []
    const page = await context.newPage()
    watchFaults(page, fault => faults.push(fault))
    return { page, faults, [Symbol.asyncDispose]: () => context.close() }
  }

  test(
    'are no wider than a window of 320, 375 or 1280 pixels, all of them, and axe finds no fault, light and dark',
    { timeout: 180_000 },
    async () => {
      await using window = await open(1280)
      const { page } = window
      const contentsOf = async (path: string) => {
        await page.goto(server.url + path)
        return page.locator('#contents a').evaluateAll(links => links.map(link => link.getAttribute('href')!))
      }
      const guides = await contentsOf('/docs')
      const reference = await contentsOf('/api/docs')
      const paths = new Set(['/', '/docs', ...guides, ...reference, ...kinds])

      for (const [turn, path] of [...paths].entries()) {
        await page.goto(server.url + path)
        await unfold(page)
        const isAudited = !path.startsWith('/api/docs/') || kinds.includes(path)
        expect([path, await (isAudited ? findFaults(page, turn) : findOverflow(page))]).toEqual([path, []])
      }
      expect(paths.size).toBeGreaterThan(50)
      expect(window.faults).toEqual([])
    },
  )

  test('are painted within half a second by a warm server', { timeout: 120_000 }, async () => {
    await using window = await open(1280)
    const slow: string[] = []

    for (const path of kinds) {
      const paints: number[] = []
      // Of several, as the machine may do much else meanwhile.
      for (let i = 0; i < 4; i++) {
        await window.page.goto(server.url + path)
        paints.push(
          await eventually(async () => {
            const ms = await window.page.evaluate<number>(firstPaint)
            expect(ms).toBeGreaterThan(0)
            return ms
          }),
        )
      }
      if (Math.min(...paints) > 500) slow.push(`${path}: ${paints.map(Math.round).join(', ')} ms`)
    }

    expect(slow).toEqual([])
  })

  test('of the reference copy commands with a token, and send what reads', async () => {
    await using window = await open(1280)
    const { page } = window
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url })
    const { body: app } = await server.admin.post('/api/apps', { type: 'chat', uid: 'garden', name: 'The garden' })
    await page.goto(`${server.url}/api/docs/apps`)
    const of = (id: string) =>
      page.locator('.operation').filter({ has: page.getByRole('heading', { name: id, exact: true }) })

    await page.getByLabel('API key or access token').fill(server.key)
    await of('Get an app').getByRole('button', { name: 'Copy as curl' }).press('Enter')
    await of('Get an app').getByText('Copied').waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(copied).toBe(`curl ${server.url}/api/apps/garden -H 'Authorization: Bearer ${server.key}'`)
    const { stdout } = await promisify(execFile)('sh', ['-c', `${copied} -s`])
    expect(JSON.parse(stdout)).toMatchObject({ id: app.id })

    await of('Get an app').getByRole('button', { name: 'Try it' }).press('Enter')
    await page.keyboard.press('Enter')
    await of('Get an app')
      .getByText(/^200 OK, /)
      .waitFor()
    await of('Get an app').getByText('"name": "The garden"').waitFor()
    expect(window.faults).toEqual([])
    await of('Get an app').getByLabel('Path').fill('https://elsewhere.example/')
    await page.keyboard.press('Enter')
    await of('Get an app').getByText('Only addresses of this server').waitFor()
    expect(await page.evaluate('Object.keys({ ...localStorage, ...sessionStorage })')).toEqual([])
  })

  test('are read by keyboard: to the text, through the contents, and to what a search finds', async () => {
    await using window = await open(1280)
    const { page } = window
    await page.goto(`${server.url}/docs/concepts`)

    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(new URL(page.url()).hash).toBe('#main')
    await page.getByRole('searchbox').fill('read markers')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /found for “read markers”/ }).waitFor()
    await page.getByRole('main').getByRole('link').first().press('Enter')

    await page.getByRole('navigation', { name: 'Contents' }).waitFor()
    expect(new URL(page.url()).pathname).not.toBe('/docs')
  })
})

/** Opens what is folded, and a request to be tried. */
async function unfold(page: Page): Promise<void> {
  const tried = page.getByRole('button', { name: 'Try it' }).first()
  if (await tried.isVisible()) await tried.click()
  await page.evaluate(`document.querySelectorAll('details').forEach(one => (one.open = true))`)
}
