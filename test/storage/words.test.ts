import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findBinaries } from '../../src/postgres/embedded/binaries.ts'
import { createDatabase, type Database } from '../support/database.ts'

let database: Database
/** Every letter of the Basic Multilingual Plane that PostgreSQL knows. */
let letters: string[]

beforeAll(async () => {
  database = await createDatabase()
  const all = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCodePoint(code))
  const rows = await database.sql<{ letter: string }[]>`
    select letter from unnest(${all.filter(text => /^\p{L}$/u.test(text))}::text[]) letter where unicode_assigned(letter)`
  letters = rows.map(({ letter }) => letter)
})
afterAll(() => database[Symbol.asyncDispose]())

async function folded(texts: string[]): Promise<string[]> {
  const rows = await database.sql<{ folded: string }[]>`
    select fold(t) as folded from unnest(${texts}::text[]) with ordinality u(t, place) order by place`
  return rows.map(row => row.folded)
}

test('a letter is the same in capitals, whatever its script', async () => {
  const known = new Set(letters)
  const toKnown = (other: string, letter: string) => (known.has(other) ? other : letter)
  const [plain, lower, upper] = await Promise.all([
    folded(letters),
    folded(letters.map(letter => toKnown(letter.toLowerCase(), letter))),
    folded(letters.map(letter => toKnown(letter.toUpperCase(), letter))),
  ])

  expect(letters.filter((_, i) => plain[i] !== lower[i] || plain[i] !== upper[i])).toEqual([])
  expect(await folded(plain)).toEqual(plain)
})

test('letters lose their accents, and become those that PostgreSQL takes them for without any', async () => {
  const { root } = await findBinaries()
  const rules = readFileSync(join(root, 'share/postgresql/tsearch_data/unaccent.rules'), 'utf8')
  const plain = new Map(rules.split('\n').map(line => line.split('\t') as [string, string]))
  const known = letters.filter(letter => /^[a-z]+$/i.test(plain.get(letter) ?? ''))
  const others = letters.filter(letter => !plain.has(letter))

  expect(known.length).toBeGreaterThan(900)
  expect(await folded(known)).toEqual(known.map(letter => plain.get(letter)!.toLowerCase()))
  // Of the others, each loses only what Unicode says that it is made of.
  const bare = (text: string) => text.normalize('NFKD').replace(/[\u0300-\u036f\u05b0-\u05c7\u064b-\u065f\u0670]/g, '')
  const small = (text: string) => text.toUpperCase().toLowerCase()
  const expected = (text: string) => {
    const rule = plain.get(small(text)) ?? plain.get(text.toUpperCase()) ?? ''
    return /^[a-z]+$/i.test(rule) ? rule.toLowerCase() : small(text)
  }
  expect(await folded(others)).toEqual(others.map(letter => Array.from(bare(letter), expected).join('')))
})

test.each([
  ['Hauptstraße', 'HAUPTSTRASSE'],
  ['Łódź', 'lodz'],
  ['Ørsted', 'orsted'],
  ['Æther', 'aether'],
  ['ΟΔΟΣ', 'οδός'],
  ['IĞDIR', 'ığdır'],
  ['Col·lecció', 'COŀLECCIO'],
  ['مُحَمَّد', 'محمد'],
  ['ｆｕｌｌ ｗｉｄｔｈ', 'full WIDTH'],
])('%s is found as %s, and the other way round', async (one, other) => {
  const [a, b] = await folded([one, other])

  expect(a).toBe(b)
})

/** Numbers that look random and are the same each time. */
function* dice(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    yield state / 2 ** 32
  }
}

test('what is the beginning of a word is found, and an index of words holds all that is found', async () => {
  const pieces = [
    'a',
    'B',
    'ß',
    'é',
    'e\u0301',
    '1',
    'ﬁ',
    'Ж',
    'ŀ',
    '한',
    '喜',
    '咖',
    'ท',
    '🚀',
    '👩\u200d🚀',
    ...' .,:%_-\'"\\()[]*+?|^$&!#/',
    '\u00a0',
    '×',
    'ς',
  ]
  const throws = dice(7)
  const pick = () => pieces[Math.floor(throws.next().value * pieces.length)]!
  const text = (length: number) => Array.from({ length: 1 + Math.floor(throws.next().value * length) }, pick).join('')
  const names = Array.from({ length: 4_000 }, () => text(12))
  const words = names.map(name => name.split(/\s+/).filter(Boolean)).map(all => all[Math.floor(all.length / 2)] ?? '')
  // Half of a character is none; what joins two pictographs is no beginning.
  const begun = words.map(word =>
    Array.from(word)
      .slice(0, 1 + Math.floor(throws.next().value * 4))
      .join(''),
  )
  const asked = (q: string[]) => database.sql<{ is_found: boolean; is_indexed: boolean }[]>`
    select fold(name) ~ all(word_patterns(q)) as is_found,
      name_terms(name) @@ name_query(q, true, true) as is_indexed
    from unnest(${names}::text[], ${q}::text[]) with ordinality u(name, q, place) order by place`

  const [own, other] = await Promise.all([asked(begun), asked(names.map(() => text(3)))])

  expect(own.filter(row => !row.is_found || !row.is_indexed)).toEqual([])
  expect(other.filter(row => row.is_found && !row.is_indexed)).toEqual([])
  expect(other.filter(row => row.is_found).length).toBeGreaterThan(100)
})
