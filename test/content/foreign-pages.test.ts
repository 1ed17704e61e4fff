import { expect, test } from 'vitest'
import { toFrame } from '../../src/resources/embeds/unfurl/frame.ts'
import { readHead } from '../../src/resources/embeds/unfurl/page.ts'

const elements = (count: number) => Array.from({ length: count }, (_, i) => `<b ${i.toString(36)}>`).join('')

test.each([
  ['elements that are opened anew in each paragraph', `<iframe></iframe><p>${elements(650)}`, '<p>x'],
  ['attributes', '<iframe src="https://player.example/" ', 'a '],
  ['an attribute', '<iframe src="https://player.example/', 'x'],
  ['text', '<iframe src="https://player.example/">', '<p>'],
  ['blanks', '<iframe src="https://player.example/">', ' '],
])('8 KiB of %s are looked at in no time, whether they are one frame or not', (_what, start, piece) => {
  const text = `${start.padEnd(8_192 - 9 - piece.length, piece)}</iframe>`
  const before = process.cpuUsage()

  toFrame(text)

  expect(processorMs(before)).toBeLessThan(500)
})

test('a NUL in an attribute of a frame is replaced, as browsers do it', () => {
  expect(toFrame('<iframe src="https://player.example/" title="a\0b"></iframe>')?.html).toBe(
    '<iframe src="https://player.example/" title="a\uFFFDb"></iframe>',
  )
})

test.each([
  ['unknown end tags below many open elements', '<b>'.repeat(4_990), '</x>'],
  ['forms below many open elements', `<form>${'<b>'.repeat(4_990)}`, '<form>'],
  ['end tags in drawings within drawings', '<svg>'.repeat(4_990), '</x>'],
  ['attributes', '<b ', 'a '],
  ['an attribute', '<b a="', 'x'],
])('a page of 1 MiB of %s takes no time', async (_what, start, piece) => {
  const page = start.padEnd(1024 * 1024, piece)
  const before = process.cpuUsage()

  await readHead(page)

  expect(processorMs(before)).toBeLessThan(500)
})

function processorMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
