import postgres from 'postgres'
import { quote } from './arrays.ts'
import type { Db } from './sql.ts'

type Param = string | number | boolean | null

type ColumnType = 'bigint' | 'int' | 'text' | 'text[]' | 'jsonb' | 'timestamptz' | 'boolean' | 'bytea'

/** One kind of row to write: all rows of a flush, of any number of apps, go in one statement. */
export interface Batch<Row> {
  name: string
  columns: Partial<Record<keyof Row & string, ColumnType>>
  /** The statement; `rows` stands for a table of the rows to write, with the declared columns. */
  sql: (rows: string) => string
  /** Rows with the same key overwrite each other before they are written: only the newest is sent. */
  key?: (row: Row) => unknown
  /**
   * Columns that hold one value in all rows of nearly every flush. Where all of them do, they travel as single values
   * instead of arrays, which spares PostgreSQL most of the work of reading the rows.
   */
  uniform?: readonly (keyof Row & string)[]
}

/** Declares a write. PostgreSQL changes a row once in a statement, so updates must declare their `key`. */
export function batch<Row extends object>(declared: Batch<Row>): Batch<Row> {
  return declared
}

/** Builds the one statement that a flush writes with: every batch is a `with` member of it. It writes all or nothing. */
export class WriteStatement {
  readonly params: Param[] = []
  readonly #parts: string[] = []
  readonly #names = new Set<string>()

  /** `rows` must not be empty. */
  add<Row extends object>({ name, columns, sql, uniform = [] }: Batch<Row>, rows: readonly Row[]): void {
    const single = uniform.every(column => isUniform(rows, column, columns[column]!)) ? uniform : []
    const sources: string[] = []
    const picks: string[] = []
    for (const [column, type] of Object.entries(columns) as [keyof Row & string, ColumnType][]) {
      if (single.includes(column)) {
        const place = this.#place(toParam(rows[0]![column], type))
        // As a query of its own, text is read once instead of once a row.
        picks.push(`${throughText.has(type) ? `(select ${place}::text::${type})` : `${place}::${type}`} as ${column}`)
        continue
      }
      // An array of arrays would be flattened by unnest: these travel as text and become arrays row by row.
      const element = type === 'text[]' ? 'text' : type
      sources.push(`unnest(${this.#place(toArrayLiteral(rows, column, type))}::${element}[]) as ${column}`)
      picks.push(type === 'text[]' ? `${column}::text[] as ${column}` : column)
    }
    // Known before any row is read: where the fence does not hold there are no rows, and nothing is written.
    const table = `(select ${picks.join(', ')} from (select ${sources.join(', ')}) as r where (select holds from fence))`
    this.#parts.push(`${name} as (${sql(table)})`)
    this.#names.add(name)
  }

  #place(param: Param): string {
    this.params.push(param)
    return `$${this.params.length}`
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0
  }

  /** True where rows of this batch are to be written: a fence may then read what its statement returns. */
  has({ name }: { name: string }): boolean {
    return this.#names.has(name)
  }

  /** The whole statement: it writes where the condition of its fence is true, and otherwise nothing at all. */
  finish(make: (place: (param: Param) => string) => Fence): Finished {
    const { before = [], holds, returning } = make(param => this.#place(param))
    const parts = [...before, `fence as materialized (select ${holds} as holds)`, ...this.#parts]
    return { text: `with ${parts.join(',\n')}\nselect ${returning}`, params: this.params }
  }

  /**
   * What may only be written by one transaction: where it was lost, the statement fails as a whole, with `isFenced` true
   * of the error, and where `also`, a condition on what was written, is not true.
   */
  finishIn(transaction: string, also: (place: (param: Param) => string) => string = () => 'true'): Finished {
    return this.finish(place => ({
      holds: `coalesce(pg_current_xact_id_if_assigned() = ${place(transaction)}::xid8, false)`,
      returning: `1 / ((select holds from fence) and ${also(place)})::int`,
    }))
  }
}

/** Writes rows of any kinds, in one statement, where nothing has to hold but the transaction. */
export async function writeRows(db: Db, writes: readonly { batch: Batch<object>; row: object }[]): Promise<void> {
  if (writes.length === 0) return
  const statement = new WriteStatement()
  for (const [batch, group] of Map.groupBy(writes, ({ batch }) => batch)) {
    statement.add(
      batch,
      group.map(({ row }) => row),
    )
  }
  const { text, params } = statement.finish(() => ({ holds: 'true', returning: '1' }))
  await db.unsafe(text, params)
}

/** When a statement may write. */
interface Fence {
  /** Members of its `with` that the others refer to. */
  before?: string[]
  /** A condition. It is looked at once, before anything is written. */
  holds: string
  /** What to select: it may read from `fence`, and from what was written. */
  returning: string
}

interface Finished {
  text: string
  params: Param[]
}

/** True where a statement failed because its transaction had been lost. */
export function isFenced(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === '22012'
}

/** What postgres.js would write in a form of its own, given as text. */
const throughText = new Set<ColumnType>(['jsonb', 'text[]', 'bytea'])

function isUniform<Row>(rows: readonly Row[], column: keyof Row, type: ColumnType): boolean {
  const value = rows[0]![column]
  return rows.every(row => row[column] === value || isAlike(row[column], value, type))
}

/** True where both are written as the same; some that are may go unnoticed. */
function isAlike(a: unknown, b: unknown, type: ColumnType): boolean {
  if (a === null || a === undefined || b === null || b === undefined) return (a ?? null) === (b ?? null)
  if (type === 'timestamptz') return (a as Date).getTime() === (b as Date).getTime()
  if (type !== 'text[]') return false
  const [texts, others] = [a as string[], b as string[]]
  return texts.length === others.length && texts.every((text, at) => text === others[at])
}

/** A value in the form in which postgres.js passes it on as a parameter of this type. */
function toParam(value: unknown, type: ColumnType): Param {
  if (value === null || value === undefined) return null
  switch (type) {
    case 'bigint':
    case 'int':
    case 'boolean':
      return value as number | boolean
    case 'timestamptz':
      return toInstant(value as Date)
    case 'bytea':
      return `\\x${(value as Buffer).toString('hex')}`
    case 'jsonb':
      return JSON.stringify(value)
    case 'text[]':
      return `{${(value as string[]).map(text => quote(withoutNul(text))).join()}}`
    case 'text':
      return withoutNul(value as string)
  }
}

function toArrayLiteral<Row>(rows: readonly Row[], column: keyof Row, type: ColumnType): string {
  // Most columns of most flushes hold one value: null, zero, the time of the flush.
  if (isUniform(rows, column, type)) {
    const element = toElement(rows[0]![column], type)
    return `{${element}${`,${element}`.repeat(rows.length - 1)}}`
  }
  let elements = ''
  for (const row of rows)
    elements += elements === '' ? toElement(row[column], type) : `,${toElement(row[column], type)}`
  return `{${elements}}`
}

/** What stands for a value in an array literal. */
function toElement(value: unknown, type: ColumnType): string | number | boolean {
  const param = toParam(value, type)
  if (param === null) return 'NULL'
  return typeof param === 'string' ? quote(param) : param
}

let lastInstant: Date | null = null
let lastInstantText = ''

/** All rows of a flush carry the same Date object, so the last answer nearly always fits. */
function toInstant(date: Date): string {
  if (date === lastInstant) return lastInstantText
  lastInstant = date
  lastInstantText = date.toISOString()
  return lastInstantText
}

/** PostgreSQL text holds no NUL. */
function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}
