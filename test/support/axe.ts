import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { overflowOf } from './admin-page.ts'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const widths = [320, 375, 1280]
const windows = widths.flatMap(width => (['light', 'dark'] as const).map(colorScheme => ({ width, colorScheme })))

interface Finding {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

/**
 * Where a page is wider than a window of 320, 375 or 1280 pixels, and what axe finds on it in one of these, light or dark:
 * in another one on each turn, because axe takes up to a second.
 */
export async function findFaults(page: Page, turn: number): Promise<string[]> {
  const faults = await findOverflow(page)
  const { width, colorScheme } = windows[turn % windows.length]!
  await page.setViewportSize({ width, height: 800 })
  await page.emulateMedia({ colorScheme })
  const found = await audit(page, [])
  return [...faults, ...found.map(fault => `${width} pixels, ${colorScheme}: ${fault}`)]
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

/** What axe finds on a page as it is shown now, but for some of its rules, and how much wider than the window it is. */
export async function findFaultsNow(page: Page, without: string[] = []): Promise<string[]> {
  const found = await audit(page, without)
  const excess = await overflowOf(page)
  return excess > 0 ? [...found, `${excess} pixels too wide`] : found
}

/** Each rule of axe that is broken, with the first elements that break it. */
async function audit(page: Page, without: string[]): Promise<string[]> {
  // Not by a script element: the pages' policies forbid it.
  await page.evaluate(source)
  const findings = await page.evaluate(async without => {
    const { axe } = globalThis as unknown as { axe: { run: (options: object) => Promise<{ violations: Finding[] }> } }
    const rules = Object.fromEntries(without.map(id => [id, { enabled: false }]))
    return (await axe.run({ rules, resultTypes: ['violations'] })).violations
  }, without)
  return findings.map(({ id, nodes }) => {
    const first = nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 120)} ${failureSummary}`)
    return `${id}: ${first.join(' ')}`
  })
}
