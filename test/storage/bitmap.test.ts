import { expect, test } from 'vitest'
import { decode, readHead } from '../../src/media/bitmap.ts'
import { writeBitmap, type Colour } from '../support/bitmaps.ts'

const red: Colour = [250, 10, 20]
const blue: Colour = [30, 40, 240]
const rows = [
  [red, red, blue],
  [blue, red, blue],
]

const forms = ([1, 4, 8, 24, 32] as const).flatMap(bits => [
  [bits, 'bottom up', false] as const,
  [bits, 'top down', true] as const,
])

test.each(forms)('a picture of %d bits a pixel, written %s, is read as it was drawn', async (bits, _, isTopDown) => {
  const file = writeBitmap({ rows, bitsPerPixel: bits, isTopDown })
  const bitmap = readHead(file.subarray(0, 54), file.length)!

  const { data, info } = await (await decode(file, bitmap)).raw().toBuffer({ resolveWithObject: true })

  expect(bitmap).toMatchObject({ width: 3, height: 2 })
  expect(info.channels).toBe(3)
  expect([...data]).toEqual(rows.flat(2))
})

const whole = writeBitmap({ rows, bitsPerPixel: 24 })
const change = (at: number, value: number) => {
  const file = Buffer.from(whole)
  file.writeInt32LE(value, at)
  return file
}

test.each([
  ['is cut off', whole.subarray(0, whole.length - 1)],
  ['ends in its head', whole.subarray(0, 40)],
  ['is compressed', change(30, 1)],
  ['has no width', change(18, 0)],
  ['is wider than its bytes', change(18, 2_000_000_000)],
  ['is higher than its bytes', change(22, -2_147_483_648)],
  ['has 16 bits a pixel', change(28, 16)],
  ['is of another kind', Buffer.from('BM'.padEnd(54, ' '))],
  [
    'has rows too long to be looked at in one go',
    writeBitmap({ rows: [Array.from({ length: 50_001 }, () => red)], bitsPerPixel: 1 }),
  ],
])('a file that %s is none', (_, file) => {
  expect(readHead(file, file.length)).toBeNull()
})
