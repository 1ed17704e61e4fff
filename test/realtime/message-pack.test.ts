import { expect, test } from 'vitest'
import { packPlain, unpackPlain } from '../../src/realtime/protocols/message-pack.ts'

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')

test('what is packed comes back as it was', () => {
  const values = [
    null,
    true,
    false,
    0,
    -1,
    127,
    128,
    -129,
    65_536,
    2 ** 40,
    -(2 ** 40),
    1.5,
    '',
    'ä',
    'x'.repeat(70_000),
  ]
  const nested = { a: [1, { b: values }], ...Object.fromEntries(values.map((value, i) => [`key ${i}`, value])) }
  const long = Array.from({ length: 70_000 }, (_, i) => i)

  for (const value of [...values, values, nested, long, [], {}]) expect(unpackPlain(packPlain(value))).toEqual(value)
})

test('numbers of every width are numbers', () => {
  const hex = '98 cc ff cd ffff ce 00000001 d0 ff d1 ffff d2 ffffffff cf 0000000100000000 d3 ffffffffffffffff'

  expect(unpackPlain(bytes(hex))).toEqual([255, 65_535, 1, -1, -1, -1, 2 ** 32, -1])
})

test.each([
  ['text', '94 a1 61 d9 01 61 da 0001 61 db 00000001 61', ['a', 'a', 'a', 'a']],
  ['list', '93 91 01 dc 0001 01 dd 00000001 01', [[1], [1], [1]]],
  ['map', '93 81 a1 61 01 de 0001 a1 61 01 df 00000001 a1 61 01', [{ a: 1 }, { a: 1 }, { a: 1 }]],
])('a %s is read however its length is written', (_what, hex, value) => {
  expect(unpackPlain(bytes(hex))).toEqual(value)
})

test.each([
  ['nothing', ''],
  ['a text that is cut off', 'a5 61'],
  ['a number that is cut off', 'cd 01'],
  ['a length that is cut off', 'da 00'],
  ['a list that is cut off', '92 01'],
  ['a map that is cut off', '81 a1 61'],
  ['a list that says it is as long as can be', 'dd ffffffff'],
  ['a map that says it is as long as can be', 'df ffffffff'],
  ['two values', '01 01'],
  ['a value and something', '91 01 00'],
  ['what stands for nothing', 'c1'],
  ['an extension of one byte', 'd4 01 00'],
  ['an extension of sixteen bytes', `d8 01 ${'00'.repeat(16)}`],
  ['an extension that says how long it is', 'c7 01 01 00'],
  ['a time', 'd6 ff 00000000'],
  ['an extension inside of a list', '91 d4 01 00'],
  ['an extension inside of a map', '81 a1 61 d4 01 00'],
  ['lists in one another', '91'.repeat(17) + 'c0'],
  ['maps in one another', '81 a1 61'.repeat(17) + 'c0'],
])('%s is refused', (_what, hex) => {
  expect(() => unpackPlain(bytes(hex))).toThrow()
})

test('sixteen levels are read, and a hundred thousand refused as soon as there are too many', () => {
  expect(unpackPlain(bytes('91'.repeat(16) + 'c0'))).toBeInstanceOf(Array)
  expect(() => unpackPlain(Buffer.alloc(100_000, 0x91))).toThrow('too many levels')
})
