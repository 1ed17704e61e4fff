import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servePages, type Pages } from '../../src/demo/pages.ts'
import { findFaultsNow } from '../support/axe.ts'
import { makeBlockFont } from '../support/block-font.ts'
import { hasBrowser, inBrowser, launchBrowser, watchFaults } from '../support/browser.ts'
import { differFrom } from '../support/same-picture.ts'

interface Look {
  width: number
  scheme: 'light' | 'dark'
  direction: 'ltr' | 'rtl'
  size: number
}

const look = (width: number, scheme: Look['scheme'], { direction = 'ltr', size = 100 }: Partial<Look> = {}): Look => ({
  width,
  scheme,
  direction,
  size,
})

const looks = [
  ...[320, 375, 1280].flatMap(width => [look(width, 'light'), look(width, 'dark')]),
  look(320, 'dark', { direction: 'rtl' }),
  look(1280, 'light', { direction: 'rtl' }),
  look(320, 'light', { size: 200 }),
  look(1280, 'dark', { direction: 'rtl', size: 200 }),
]

/** Those of which pictures are kept. */
const drawn = [look(375, 'light'), look(1280, 'dark'), look(600, 'light', { direction: 'rtl', size: 150 })]

/** Letters, emoji and the clock are the same everywhere; what browsers draw themselves is left out. */
const steady = `
@font-face { font-family: Block; src: url(data:font/ttf;base64,${makeBlockFont()}); }
* { font-family: Block !important; font-variant-emoji: text; caret-color: transparent !important; }
progress { visibility: hidden; }
`

describe.skipIf(!hasBrowser)('every part in every state', inBrowser, () => {
  let browser: Browser
  let pages: Pages
  let page: Page
  const faults: string[] = []
  beforeAll(async () => {
    // Its client stands still, and asks no server.
    pages = await servePages({ server: 'http://localhost:1', key: 'none', port: 0, people: [] })
    browser = await launchBrowser()
    const context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'UTC' })
    page = await context.newPage()
    page.setDefaultTimeout(15_000)
    watchFaults(page, fault => faults.push(fault))
    await page.clock.setFixedTime('2026-03-03T12:00:00Z')
    await page.goto(`${pages.url}/parts`)
  })
  afterAll(async () => {
    await browser.close()
    await pages.close()
  })

  const turn = async ({ width, scheme, direction, size }: Look) => {
    await page.setViewportSize({ width, height: 6000 })
    await page.emulateMedia({ colorScheme: scheme })
    await page.getByLabel('Direction').selectOption(direction)
    await page.getByLabel('Size').selectOption(String(size))
  }

  test.each(looks)('axe finds nothing at $width px, $scheme, $direction, $size %, and nothing is wider', async look => {
    await turn(look)

    // One part in many states is many landmarks of one name.
    expect(await findFaultsNow(page, ['landmark-unique'])).toEqual([])
    expect(faults).toEqual([])
  })

  test.each(drawn)('it looks as it is kept at $width px, $scheme, $direction, $size %', async look => {
    await turn(look)
    await page.addStyleTag({ content: steady })
    await page.evaluate(() => document.fonts.ready)
    const differences: (string | undefined)[] = []
    for (const part of await page.locator('section[data-part]').all()) {
      const name = `${await part.getAttribute('data-part')}-${Object.values(look).join('-')}`
      differences.push(await differFrom(join(import.meta.dirname, 'pictures', name), await part.screenshot()))
    }
    expect(differences.filter(one => one !== undefined)).toEqual([])
  })
})
