import fc from 'fast-check'
import { expect, test } from 'vitest'
import { batch, WriteStatement } from '../../src/postgres/batch.ts'
import { createDatabase } from '../support/database.ts'

interface Row {
  id: number
  count: number | null
  text: string | null
  tags: string[]
  facts: unknown
  at: Date | null
  is_on: boolean | null
  bytes: Buffer
}

const columns = {
  id: 'bigint',
  count: 'int',
  text: 'text',
  tags: 'text[]',
  facts: 'jsonb',
  at: 'timestamptz',
  is_on: 'boolean',
  bytes: 'bytea',
} as const
const list = Object.keys(columns).join(', ')
const sql = (rows: string) => `insert into things (${list}) select ${list} from ${rows} r`
const declared = {
  spread: batch<Row>({ name: 'insert_things', columns, sql }),
  uniform: batch<Row>({
    name: 'insert_things',
    columns,
    sql,
    uniform: ['count', 'text', 'tags', 'facts', 'at', 'is_on', 'bytes'],
  }),
}

const text = fc.oneof(
  fc.constantFrom('', 'NULL', '{}', '"', '\\', "it's", 'a,b', ' x '),
  fc.string({ unit: 'grapheme' }),
)
const facts = fc.option(fc.dictionary(fc.constantFrom('a', 'b"'), fc.constantFrom(1, 'x', null, 'it\\"s')))
const values = fc.record({
  count: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  text: fc.option(text),
  tags: fc.array(text, { maxLength: 3 }),
  facts,
  at: fc.option(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })),
  is_on: fc.option(fc.boolean()),
  bytes: fc.uint8Array({ maxLength: 8 }).map(bytes => Buffer.from(bytes)),
})
/** Rows that all hold the same, and rows that do not. */
const anyRows = fc.oneof(
  fc.array(values, { minLength: 1, maxLength: 5 }),
  fc.tuple(values, fc.integer({ min: 1, max: 5 })).map(([same, count]) => Array.from({ length: count }, () => same)),
)

test('rows arrive as they are, whether they have anything in common or not', async () => {
  await using database = await createDatabase()
  const db = database.sql
  await db`create table things (id bigint, count int, text text, tags text[], facts jsonb, at timestamptz, is_on boolean, bytes bytea)`
  const property = fc.asyncProperty(anyRows, fc.constantFrom('spread', 'uniform'), async (made, form) => {
    const rows = made.map((row, id) => ({ id, ...row }))
    const written = await db.begin(async tx => {
      const [current] = await tx<{ id: string }[]>`select pg_current_xact_id()::text as id`
      const statement = new WriteStatement()
      statement.add(declared[form], rows)
      const { text: statementText, params } = statement.finishInTransaction(current!.id)
      await tx.unsafe(statementText, params, { prepare: true })
      return tx<Row[]>`with gone as (delete from things returning *) select * from gone order by id`
    })
    expect([...written].map(row => ({ ...row }))).toEqual(
      rows.map(row => ({ ...row, text: withoutNul(row.text), tags: row.tags.map(tag => withoutNul(tag)) })),
    )
  })
  await fc.assert(property, { numRuns: 300 })
})

function withoutNul<Text extends string | null>(given: Text): Text {
  return (given?.replaceAll('\0', '') ?? null) as Text
}
