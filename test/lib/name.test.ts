import fc from 'fast-check'
import { expect, test } from 'vitest'
import { UidInput } from '../../src/api/shape.ts'
import { foldName, hasHidden, isBlank, isolate, toName } from '../../src/lib/name.ts'
import { toFileName } from '../../src/resources/blobs/schema.ts'

test.each([
  ['composed and decomposed letters', 'caf\u00e9', 'cafe\u0301'],
  ['syllables of Hangul and their letters', '각', '\u1100\u1161\u11a8'],
  ['the sign of the Ångström and the letter', '\u212b', 'å'],
  ['the sign of the kelvin and the letter', '\u212a', 'k'],
  ['the sign of the ohm and the letter', '\u2126', 'ω'],
  ['capitals and small letters', 'ÀÉÎ Ж Ω', 'àéî ж ω'],
  ['the long s and the s', 'ſ', 's'],
  ['the sigma at the end and the sigma', 'ΟΔΟΣ', 'οδος'],
  ['the sigma at the end and the other', 'σ', 'ς'],
  ['the capital sharp s and the small one', 'STRAẞE', 'straße'],
  ['a dotted capital I and i with its dot', 'İvb', 'i\u0307vb'],
  ['a dotted capital I and an i', 'İvb', 'IVB'],
  ['an i with a dot and one with two', 'i', 'i\u0307\u0307'],
  ['a capital without a composed form and its small letter', 'H\u0331', 'ẖ'],
  ['the two small letters of Cherokee and its capital', 'Ꭰ', 'ꭰ'],
  ['letters beyond 16 bits', '𐐀', '𐐨'],
  ['what is never seen, and nothing', 'a\u200b\u2060\u00adb\ufeff', 'ab'],
  ['a heart and a heart in colour', '❤', '❤\ufe0f'],
])('%s are one', (_of, one, other) => {
  expect(foldName(one)).toBe(foldName(other))
})

test.each([
  ['a sharp s and two s', 'ß', 'ss'],
  ['a ligature and its letters', 'ﬁ', 'fi'],
  ['a dotless i and an i', 'ı', 'i'],
  ['letters of full width and others', 'ａ', 'a'],
  ['an accent and none', 'é', 'e'],
  ['letters that only look alike', 'а', 'a'],
  [
    'the flags of England and Scotland',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e007f}',
    '🏴\u{e0067}\u{e0062}\u{e0073}\u{e007f}',
  ],
])('%s are two', (_of, one, other) => {
  expect(foldName(one)).not.toBe(foldName(other))
})

const text = fc.string({ unit: 'grapheme' })

test('a fold stays as it is, and is that of any form of the name', () => {
  fc.assert(
    fc.property(text, name => {
      const fold = foldName(name)
      expect(foldName(fold)).toBe(fold)
      for (const form of ['NFC', 'NFD'] as const) expect(foldName(name.normalize(form))).toBe(fold)
      expect(foldName(toName(name).trim())).toBe(foldName(name.trim()))
    }),
  )
})

const blanks = [
  ...[
    ' ',
    '\u00a0',
    '\u3000',
    '\u2028',
    '\u00ad',
    '\u034f',
    '\u115f',
    '\u1160',
    '\u17b4',
    '\u180e',
    '\u200b',
    '\u200d',
  ],
  ...['\u2060', '\u2800', '\u3164', '\ufe0f', '\ufeff', '\uffa0', '\ufff9', '\u{1d159}', '\u{1d173}', '\u{e0041}'],
  ...['\u{e0100}', '\u{13441}'],
]
const directions = [
  ...['\u061c', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068'],
  '\u2069',
]

test.each([...blanks, ...directions, '\u0301', '\u20dd', '\u2800\u3164\u0301'])('nothing of %j is seen', name => {
  expect(isBlank(name)).toBe(true)
  expect(toFileName(name)).toBe('')
})

test.each([
  'a',
  '.',
  '\ue000',
  '👨‍👩‍👧',
  '❤️',
  '🏴\u{e0067}\u{e007f}',
  '1️⃣',
  'क्‍ष',
  'می‌خواهم',
  'e\u0301',
  '가',
  '\u0e34ก',
])('something of %j is seen', name => {
  expect(isBlank(name)).toBe(false)
})

test.each([...blanks, ...directions].map(mark => `a${mark}b`))('a uid may not be %j', name => {
  expect(hasHidden(name)).toBe(true)
  expect(UidInput.safeParse(name).success).toBe(false)
})

test.each([
  ...['.', '..', 'true', 'FALSE', '-1', 'tru\u200be', 'a/b', 'a\\b', 'a?b', 'a#b', 'a%62', '50%'],
  ...[' a', 'a ', 'a\tb', 'a\u0085', '12', 'x'.repeat(257)],
])('a uid may not be %j, which means something else, or nothing, where uids stand', uid => {
  expect(UidInput.safeParse(uid).success).toBe(false)
})

test.each([
  'ann',
  'ann@x.example',
  'auth0|17',
  'cn=ann,ou=x',
  'a.b',
  '...',
  'true-1',
  'Ünï',
  'wy-copilot-1',
  '+49',
  '日本',
  '-2',
])('a uid may be %j', uid => {
  expect(UidInput.parse(uid)).toBe(uid)
})

test('a file keeps its extension and all that is seen of its name, but loses what turns the direction', () => {
  for (const mark of directions) expect(toFileName(`photo${mark}gnp.exe`)).toBe('photognp.exe')
  expect(toFileName('\u202e')).toBe('')
  expect(toFileName('cafe\u0301 👨‍👩‍👧.txt')).toBe('café 👨‍👩‍👧.txt')
})

test('a name within a sentence cannot turn it, or end what keeps it apart', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'א', ' ', '\u2028', ...directions) }), name => {
      const isolated = isolate(name)
      const inner = isolated.replace(/^\u2068|\u2069$/g, '')
      expect(inner).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u2028\u2029]/)
      expect(isolated === inner).toBe(/^\p{ASCII}*$/u.test(name))
      expect(inner.replace(/ /g, '')).toBe(name.replace(/[\u202a-\u202e\u2066-\u2069\u2028\u2029 ]/g, ''))
    }),
  )
  expect(isolate('Ann')).toBe('Ann')
  expect(isolate('Zoë')).toBe('\u2068Zoë\u2069')
  expect(isolate('Ann\u202e')).toBe('\u2068Ann\u2069')
})
