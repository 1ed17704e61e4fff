import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const styles = readFileSync(join(import.meta.dirname, '../../src/admin/styles/tokens.css'), 'utf8')
const [light, dark] = styles.split('@media (prefers-color-scheme: dark)').map(readColors)
const schemes = { light: light!, dark: { ...light!, ...dark! } }

/** What is written on what. WCAG 2.2, 1.4.3: a ratio of 4.5 to 1. */
const texts: [text: string, ground: string][] = [
  ...['ground', 'surface', 'surface-sunk', 'accent-soft', 'bad-soft'].map(ground => pair('text', ground)),
  ...['ground', 'surface', 'surface-sunk', 'bad-soft'].map(ground => pair('text-muted', ground)),
  ...['ground', 'surface'].map(ground => pair('accent', ground)),
  ...['good', 'bad', 'warn'].flatMap(tone => [pair(tone, 'surface'), pair(tone, `${tone}-soft`)]),
  pair('accent-strong', 'accent-soft'),
  pair('on-accent', 'accent'),
  pair('on-accent', 'accent-strong'),
  pair('surface', 'bad'),
  pair('surface', 'bad-strong'),
  pair('ground', 'text'),
]

/** What has to be seen to be used or read, and is no text. WCAG 2.2, 1.4.11: 3 to 1. */
const shapes: [shape: string, ground: string][] = [
  pair('line-field', 'surface'),
  pair('line-field', 'ground'),
  ...[1, 2, 3, 4].map(line => pair(`chart-${line}`, 'surface')),
]

describe.each(Object.entries(schemes))('where the page is %s', (_, colors) => {
  const ratioOf = ([front, back]: [string, string]) => contrast(colors[front]!, colors[back]!)

  test.each(texts)('%s can be read on %s', (...colors) => {
    expect(ratioOf(colors)).toBeGreaterThanOrEqual(4.5)
  })

  test.each(shapes)('%s can be told from %s', (...colors) => {
    expect(ratioOf(colors)).toBeGreaterThanOrEqual(3)
  })
})

function pair(front: string, back: string): [string, string] {
  return [front, back]
}

function readColors(css: string): Record<string, string> {
  return Object.fromEntries([...css.matchAll(/--([\w-]+): (#[\da-f]{6});/g)].map(([, name, color]) => [name!, color!]))
}

function contrast(one: string, other: string): number {
  const [lighter, darker] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (lighter! + 0.05) / (darker! + 0.05)
}

/** Relative luminance of a colour in sRGB, as WCAG defines it. */
function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map(at => {
    const value = parseInt(color.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}
