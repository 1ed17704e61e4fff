import postgres from 'postgres'
import { quote } from './arrays.ts'
import type { Db } from './sql.ts'

type Param = string | number | boolean | null

type ColumnType = 'bigint' | 'int' | 'text' | 'text[]' | 'jsonb' | 'timestamptz' | 'boolean' | 'bytea'

/** One kind of row to write: all rows of a flush, of any number of apps, go in one statement. */
export interface Batch<Row> extends Declared<Row> {
  readonly places: readonly [column: keyof Row & string, type: ColumnType][]
}

interface Declared<Row> {
  /** No other batch has this name. */
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
export function batch<Row extends object>(declared: Declared<Row>): Batch<Row> {
  return { ...declared, places: Object.entries(declared.columns) as [keyof Row & string, ColumnType][] }
}

/** How the rows of a batch travel: one row as values, several as arrays, but for the columns that are uniform. */
type Layout = 'row' | 'uniform' | 'arrays'

/** Texts of statements by their shape. The text of a statement is long, and says only what it writes, not the values. */
export type StatementTexts = Map<string, string>

/** Builds the one statement that a flush writes with: every batch is a `with` member of it. It writes all or nothing. */
export class WriteStatement {
  readonly params: Param[] = []
  readonly #parts: { batch: Batch<never>; layout: Layout }[] = []
  #shape = ''

  /** `rows` must not be empty. */
  add<Row extends object>(batch: Batch<Row>, rows: readonly Row[]): void {
    const layout = layoutOf(batch, rows)
    const { name, places, uniform = [] } = batch
    for (const [column, type] of places) {
      const isSingle = layout === 'row' || (layout === 'uniform' && uniform.includes(column))
      this.params.push(isSingle ? toParam(rows[0]![column], type) : toArrayLiteral(rows, column, type))
    }
    this.#parts.push({ batch: batch as Batch<never>, layout })
    this.#shape += `${name} ${layout};`
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0
  }

  /** True where rows of this batch are to be written: a fence may then read what its statement returns. */
  has({ name }: { name: string }): boolean {
    return this.#parts.some(part => part.batch.name === name)
  }

  /**
   * The whole statement: it writes where the condition of its fence is true, and otherwise nothing at all. `texts` keeps
   * the text for the next one of this shape.
   */
  finish({ shape, params, write }: Fence, texts: StatementTexts = new Map()): Finished {
    const key = `${this.#shape}${shape}`
    let text = texts.get(key)
    if (text === undefined) {
      const [parts, count] = this.#writeParts()
      const { before = [], columns, returning } = write(params.map((_, at) => `$${count + at + 1}`))
      const fence = `fence as materialized (select ${columns})`
      text = `with ${[...before, fence, ...parts].join(',\n')}\nselect ${returning}`
      texts.set(key, text)
    }
    return { text, params: [...this.params, ...params] }
  }

  /** The members of the statement, and how many parameters they have. */
  #writeParts(): [parts: string[], params: number] {
    let count = 0
    const place = () => `$${++count}`
    const parts = this.#parts.map(
      ({ batch, layout }) => `${batch.name} as (${batch.sql(toTable(batch, layout, place))})`,
    )
    return [parts, count]
  }

  /**
   * What may only be written by one transaction: where it was lost, the statement fails as a whole, with `isFenced` true
   * of the error, and where `also` is not true, a condition on what was written with a parameter of its own.
   */
  finishIn(transaction: string, texts?: StatementTexts, also: Check = always): Finished {
    const fence: Fence = {
      shape: `in ${also.shape}`,
      params: [transaction, also.param],
      write: ([current, param]) => ({
        columns: `coalesce(pg_current_xact_id_if_assigned() = ${current}::xid8, false) as holds`,
        returning: `1 / ((select holds from fence) and ${also.write(param!)})::int`,
      }),
    }
    return this.finish(fence, texts)
  }
}

const unfenced: Fence = { shape: '', params: [], write: () => ({ columns: 'true as holds', returning: '1' }) }

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
  const { text, params } = statement.finish(unfenced)
  await db.unsafe(text, params)
}

/** A condition on what was written, with a parameter of its own. */
interface Check {
  shape: string
  param: Param
  write: (place: string) => string
}

const always: Check = { shape: '', param: true, write: place => `${place}::boolean` }

/** When a statement may write. */
export interface Fence {
  /** Stands for what `write` gives: the same for the same text. */
  shape: string
  params: Param[]
  write: (places: string[]) => {
    /** Members of its `with` that the others refer to. */
    before?: string[]
    /** What the fence finds, looked at once, before anything is written: `holds` among it, whether to write. */
    columns: string
    /** What to select: it may read from `fence`, and from what was written. */
    returning: string
  }
}

interface Finished {
  text: string
  params: Param[]
}

function layoutOf<Row>({ columns, uniform = [] }: Batch<Row>, rows: readonly Row[]): Layout {
  if (rows.length === 1) return 'row'
  if (uniform.length === 0) return 'arrays'
  return uniform.every(column => isUniform(rows, column, columns[column]!)) ? 'uniform' : 'arrays'
}

/** A table of the rows to write. It is known before any row is read whether the fence holds: else there are no rows. */
function toTable(batch: Batch<never>, layout: Layout, place: () => string): string {
  const sources: string[] = []
  const picks: string[] = []
  const uniform: readonly string[] = batch.uniform ?? []
  for (const [column, type] of batch.places as readonly [string, ColumnType][]) {
    if (layout === 'row') picks.push(`${toValue(place(), type)} as ${column}`)
    else if (layout === 'uniform' && uniform.includes(column)) {
      // As a query of its own, text is read once instead of once a row.
      const value = toValue(place(), type)
      picks.push(`${throughText.has(type) ? `(select ${value})` : value} as ${column}`)
    } else {
      // An array of arrays would be flattened by unnest: these travel as text and become arrays row by row.
      sources.push(`unnest(${place()}::${type === 'text[]' ? 'text' : type}[]) as ${column}`)
      picks.push(type === 'text[]' ? `${column}::text[] as ${column}` : column)
    }
  }
  if (layout === 'row') return `(select ${picks.join(', ')} from fence where holds)`
  return `(select ${picks.join(', ')} from (select ${sources.join(', ')}) as r where (select holds from fence))`
}

function toValue(place: string, type: ColumnType): string {
  return throughText.has(type) ? `${place}::text::${type}` : `${place}::${type}`
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
