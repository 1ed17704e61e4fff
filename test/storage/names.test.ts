import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { foldName, toName } from '../../src/lib/name.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'

const empty = 'template template0'

/** The fold of each name by PostgreSQL. */
async function foldAll(sql: Sql, names: string[]): Promise<string[]> {
  const rows = await sql<{ fold: string }[]>`
    select fold_name(name) as fold from unnest(${names}::text[]) with ordinality n(name, place) order by place`
  return rows.map(({ fold }) => fold)
}

/** Each character that there may be, but NUL. */
const characters = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter(code => code !== 0 && (code < 0xd800 || code > 0xdfff))
  .map(code => String.fromCodePoint(code))

/** Capitals that have no small letter of their own with these marks, and the other way around. */
const composed = ['H\u0331', 'J\u030c', 'W\u030a', 'Ι\u0308\u0301', 'Ρ\u0313', 'I\u0307', 'I\u0323\u0307', 'ﬃ', 'ŉ']

/** Letters and marks that combine, change or vanish. */
const parts = [
  ...'aIiİıſsßẞKkΣσςÅéeHJ가각ᄀ',
  '\u0301',
  '\u0307',
  '\u0323',
  '\u0331',
  '\u0345',
  '\u1161',
  '\u11a8',
  '\u200b',
]
const name = fc.oneof(
  fc.string({ unit: fc.constantFrom(...parts), maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }).filter(text => !text.includes('\0')),
)

/** What letters are like differs between locales, if anything. */
const letters = characters.filter(character => /[\p{Cased}\p{M}\p{Default_Ignorable_Code_Point}]/u.test(character))

test.each([
  ['C', characters, `${empty} encoding 'UTF8' locale_provider libc locale 'C'`],
  ['C.UTF-8', letters, `${empty} encoding 'UTF8' locale 'C.UTF-8'`],
  ['tr-TR, where I and i are different letters', letters, `${empty} locale_provider icu icu_locale 'tr-TR' locale 'C'`],
])('with the locale %s, PostgreSQL folds every name as JavaScript does', async (_locale, singles, kind) => {
  await using database = await createDatabase(kind)
  const { sql } = database
  await migrate(sql, createLog('error'))

  const names = [...singles, ...composed, ...fc.sample(name, 20_000)].map(toName)
  for (let at = 0; at < names.length; at += 50_000) {
    const some = names.slice(at, at + 50_000)
    const folds = await foldAll(sql, some)
    expect(some.filter((name, i) => folds[i] !== foldName(name))).toEqual([])
  }
  const tags = fc.sample(name, 1_000)
  expect(await sql`select fold_names(${tags}) as folds`).toEqual([{ folds: tags.map(foldName) }])
})
