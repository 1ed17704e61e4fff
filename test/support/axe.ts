import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { overflowOf } from './admin-page.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const widths = [320, 375, 1280]

/**
 * Where a page is wider than a window of 320, 375 or 1280 pixels, and what axe finds on it in one of these with light
 * colours and in another one with dark ones: in others on the next turn, because axe takes a second for a long page.
 */
export async function findFaults(page: Page, turn: number): Promise<string[]> {
  const faults = await findOverflow(page)
  await page.evaluate(axe)
  for (const [at, colorScheme] of (['light', 'dark'] as const).entries()) {
    const width = widths[(turn + at) % widths.length]!
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    faults.push(...(await page.evaluate<string[]>(audit)).map(fault => `${width} pixels, ${colorScheme}: ${fault}`))
  }
  return faults
}

/** Where a page is wider than its window. */
export async function findOverflow(page: Page): Promise<string[]> {
  const faults: string[] = []
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 })
    const overflow = await overflowOf(page)
    if (overflow > 0) faults.push(`${width} pixels: ${overflow} too wide`)
  }
  return faults
}

/** In the browser: each rule that is broken, with the first elements that break it. */
const audit = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 120)).join(' ')))`
