import postgres from 'postgres'
import { quoteElement } from './arrays.ts'
import type { Db } from './sql.ts'

type Param = string | number | boolean | null

/** The types of columns, and of their values. */
interface Values {
  bigint: number
  int: number
  text: string
  'text[]': string[]
  jsonb: unknown
  timestamptz: Date
  boolean: boolean
  bytea: Buffer
}
export type ColumnType = keyof Values
type Columns = Record<string, ColumnType>

/** The rows of columns that are never null. */
type RowOf<Types extends Columns> = { [Name in keyof Types]: Values[Types[Name]] }

/** One kind of row to write. All rows of a flush, whatever app they belong to, are written by one statement. */
export interface Batch<Row> extends Declared<Row> {
  readonly columnTypes: readonly [column: keyof Row & string, type: ColumnType][]
}

/**
 * What a column holds that a commit may assign to new items and events. `number`: perhaps an offset instead of a number.
 * `time`: the time of the commit, which becomes that of the app's newest event where that is later. `item`: JSON of a new
 * item, and `delivery`: JSON of an event about one, with both.
 */
export type Assigned = 'number' | 'time' | 'item' | 'delivery'

interface Declared<Row> {
  /** Unique among all batches. */
  name: string
  columns: Partial<Record<keyof Row & string, ColumnType>>
  /** The SQL of this write; `rows` is a table expression with the declared columns, `columns` their names. */
  sql: (rows: string, columns: string) => string
  /** The column with the app that a row belongs to. Default: `app_id`, where there is such a column. */
  app?: keyof Row & string
  /**
   * The columns in which a partial statement puts what it assigns; see `Assigned`. Absent where it can assign nothing to
   * the rows.
   */
  assigns?: Partial<Record<keyof Row & string, Assigned>>
  /** Rows with equal keys are merged before they are written: only the newest is sent. */
  key?: (row: Row) => unknown
  /**
   * Columns that hold one value in all rows of nearly every flush. Where they do, each is sent as a single value
   * instead of an array, which saves PostgreSQL most of the work of reading the rows.
   */
  uniform?: readonly (keyof Row & string)[]
}

/**
 * Declares a kind of write. PostgreSQL updates a row only once per statement, so a batch of updates must declare its
 * `key`. The type of its rows follows from the columns, unless it is given.
 */
export function batch<const Types extends Columns>(
  declared: Declared<RowOf<Types>> & { columns: Types },
): Batch<RowOf<Types>>
export function batch<Row extends object>(declared: Declared<Row>): Batch<Row>
export function batch<Row extends object>(declared: Declared<Row>): Batch<Row> {
  return { ...declared, columnTypes: Object.entries(declared.columns) as [keyof Row & string, ColumnType][] }
}

/** Declares a kind of write that needs nothing but ids, such as removing what they name. */
export function batchOfIds(name: string, sql: (rows: string) => string): Batch<{ id: number }> {
  return batch({ name, columns: { id: 'bigint' }, key: row => row.id, sql })
}

/**
 * How the rows of a batch are sent: one row as single values; several rows as arrays, or as arrays with single values
 * for the uniform columns.
 */
type Layout = 'row' | 'uniform' | 'arrays'

/** Statement texts by shape. Building the text is costly, and it depends on what is written, not on the values. */
export type StatementTexts = Map<string, string>

/**
 * Builds the single statement of a flush: each batch is one of its common table expressions. It writes everything or
 * nothing.
 */
export class WriteStatement {
  readonly params: Param[] = []
  readonly #parts: { batch: Batch<never>; layout: Layout; firstParam: number }[] = []
  readonly #isPartial: boolean
  #shape = ''

  /**
   * `isPartial`: the statement writes the rows of the apps in the table `held` alone, which its fence must provide, with
   * the numbers and times that it assigns; each row is added with its app.
   */
  constructor({ isPartial = false } = {}) {
    this.#isPartial = isPartial
  }

  /** Requires at least one row. `apps`: the app of each row, for a partial statement. */
  add<Row extends object>(batch: Batch<Row>, rows: readonly Row[], apps: readonly number[] = []): void {
    const layout = layoutOf(batch, rows)
    const { name, columnTypes, uniform = [] } = batch
    const firstParam = this.params.length
    for (const [column, type] of columnTypes) {
      const isSingle = layout === 'row' || (layout === 'uniform' && uniform.includes(column))
      this.params.push(isSingle ? toParam(rows[0]![column], type) : toArrayLiteral(rows, column, type))
    }
    if (this.#isPartial && appColumn(batch) === undefined)
      this.params.push(layout === 'row' ? apps[0]! : `{${apps.join(',')}}`)
    this.#parts.push({ batch: batch as Batch<never>, layout, firstParam })
    this.#shape += `${name} ${layout};`
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0
  }

  /** True where rows of this batch will be written, so that a fence can read what its statement returns. */
  has({ name }: { name: string }): boolean {
    return this.#parts.some(part => part.batch.name === name)
  }

  /** The parameter that holds a column of a batch, for a fence that needs its values too. */
  placeOf<Row>({ name, columnTypes }: Batch<Row>, column: keyof Row & string): string {
    const part = this.#parts.find(({ batch }) => batch.name === name)
    const at = columnTypes.findIndex(([declared]) => declared === column)
    if (part === undefined || at < 0) throw new Error(`The statement has no column ${column} of ${name}`)
    return `$${part.firstParam + at + 1}`
  }

  /**
   * Builds the statement: it writes everything if the condition of the fence holds, otherwise nothing. `texts` caches
   * the text for the next statement of an equal shape.
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

  /** The common table expressions of the statement, and the number of their parameters. */
  #writeParts(): [parts: string[], params: number] {
    let count = 0
    const place = () => `$${++count}`
    const parts = this.#parts.map(({ batch, layout }) => {
      const columns = batch.columnTypes.map(([column]) => column).join(', ')
      const table = toTable(batch, layout, place, this.#isPartial)
      return `${batch.name} as (${batch.sql(table, columns)})`
    })
    return [parts, count]
  }

  /**
   * Builds the statement for one given transaction. If that transaction was lost and the statement runs in another, it
   * fails as a whole with an error for which `isFenced` is true; so it does where `also`, a condition on the written
   * rows with a parameter of its own, is false.
   */
  finishInTransaction(transaction: string, texts?: StatementTexts, also: Check = always): Finished {
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

/** Writes rows of any kinds in one statement, within a transaction, without a further condition. */
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

/** A condition on the written rows, with one parameter. */
interface Check {
  shape: string
  param: Param
  write: (place: string) => string
}

const always: Check = { shape: '', param: true, write: place => `${place}::boolean` }

/** A condition on which a statement writes. */
export interface Fence {
  /** Identifies the text that `write` returns: equal shapes mean equal texts. */
  shape: string
  params: Param[]
  write: (params: string[]) => {
    /** Common table expressions that the others may refer to. */
    before?: string[]
    /**
     * Columns of the `fence` table, evaluated once before anything is written. The boolean `holds` decides whether the
     * statement writes.
     */
    columns: string
    /** The final select; it may read from `fence` and from the written rows. */
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

/**
 * A table expression of the rows to write; empty where the fence does not hold, which is known before any row is read.
 * Arrays are unnested beside the fence: with the condition above them instead, `where (select holds from fence)`,
 * PostgreSQL executed 3 % more instructions for a commit of 2 messages (measured).
 */
function toTable(batch: Batch<never>, layout: Layout, place: () => string, isPartial: boolean): string {
  const sources: string[] = []
  const picks: string[] = []
  const assigns: Readonly<Record<string, Assigned | undefined>> = batch.assigns ?? {}
  const pick = (column: string, value: string) => {
    const assigned = isPartial ? assigns[column] : undefined
    const found = assigned === undefined ? value : toAssigned(value, assigned)
    picks.push(found === column ? column : `${found} as ${column}`)
  }
  const uniform: readonly string[] = batch.uniform ?? []
  let app: string | undefined
  for (const [column, type] of batch.columnTypes as readonly [string, ColumnType][]) {
    if (layout === 'row') {
      const at = place()
      if (column === appColumn(batch)) app = `${at}::bigint`
      pick(column, toValue(at, type))
    } else if (layout === 'uniform' && uniform.includes(column)) {
      // In a scalar subquery, the text is parsed once instead of once per row.
      const value = toValue(place(), type)
      pick(column, sentAsText.has(type) ? `(select ${value})` : value)
    } else {
      // unnest would flatten an array of arrays, so such columns are sent as text and cast row by row.
      sources.push(`unnest(${place()}::${type === 'text[]' ? 'text' : type}[]) as ${column}`)
      pick(column, type === 'text[]' ? `${column}::text[]` : column)
    }
  }
  if (layout === 'row') {
    const [held, isHeld] = isPartial ? [', held', ` and held_id = ${app ?? `${place()}::bigint`}`] : ['', '']
    return `(select ${picks.join(', ')} from fence${held} where holds${isHeld})`
  }
  if (isPartial && appColumn(batch) === undefined) sources.push(`unnest(${place()}::bigint[]) as of_app`)
  const held = isPartial ? ` join held on held_id = ${appColumn(batch) ?? 'of_app'}` : ''
  return `(select ${picks.join(', ')} from (select ${sources.join(', ')} from fence where holds) as r${held})`
}

/**
 * A value with what the row of `held` assigns: `number_shift` is added to the offsets `from_number` to `to_number`, and
 * `held_at` is the time of the app's newest event, where that is later than the time of the commit.
 */
function toAssigned(value: string, assigned: Assigned): string {
  switch (assigned) {
    case 'number':
      return `case when ${value} between from_number and to_number then ${value} + number_shift else ${value} end`
    case 'time':
      return `case when ${value} < held_at then held_at else ${value} end`
    case 'item':
      return ifAssigned(value, withAssigned(value, 'id'))
    case 'delivery':
      return ifAssigned(
        value,
        `${withAssigned(value, 'entity_id')} || jsonb_build_object('body', ${withAssigned(`(${value} -> 'body')`, 'id')})`,
      )
  }
}

function ifAssigned(value: string, assigned: string): string {
  return `case when number_shift = 0 and held_at is null then ${value} else ${assigned} end`
}

/** JSON with the number of its member `id` and its `created_at` assigned; the same where it is no object. */
function withAssigned(json: string, id: string): string {
  const number = toAssigned(`(${json} ->> '${id}')::bigint`, 'number')
  const time = toAssigned(`(${json} ->> 'created_at')::timestamptz`, 'time')
  const text = `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  return `case when jsonb_typeof(${json}) = 'object'
    then ${json} || jsonb_build_object('${id}', ${number}, 'created_at', ${text}) else ${json} end`
}

function appColumn({ app, columns }: Pick<Batch<never>, 'app' | 'columns'>): string | undefined {
  return app ?? ('app_id' in columns ? 'app_id' : undefined)
}

function toValue(place: string, type: ColumnType): string {
  return sentAsText.has(type) ? `${place}::text::${type}` : `${place}::${type}`
}

/** True where a statement failed because its transaction had been lost. */
export function isFenced(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === '22012'
}

/** Types that are sent as text, because postgres.js would encode them in a form of its own. */
const sentAsText = new Set<ColumnType>(['jsonb', 'text[]', 'bytea'])

function isUniform<Row>(rows: readonly Row[], column: keyof Row, type: ColumnType): boolean {
  const value = rows[0]![column]
  return rows.every(row => row[column] === value || isEqualValue(row[column], value, type))
}

/** True where two values that are not identical are sent in the same form. */
function isEqualValue(a: unknown, b: unknown, type: ColumnType): boolean {
  if (a === null || a === undefined || b === null || b === undefined) return (a ?? null) === (b ?? null)
  if (type === 'timestamptz') return (a as Date).getTime() === (b as Date).getTime()
  if (type !== 'text[]') return false
  const [texts, others] = [a as string[], b as string[]]
  return texts.length === others.length && texts.every((text, at) => text === others[at])
}

/** A value in the form that postgres.js sends unchanged as a parameter of this type. */
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
      return `{${(value as string[]).map(text => quoteElement(withoutNul(text))).join()}}`
    case 'text':
      return withoutNul(value as string)
  }
}

function toArrayLiteral<Row>(rows: readonly Row[], column: keyof Row, type: ColumnType): string {
  // Most columns of most flushes hold a single value: null, zero, the time of the flush.
  if (isUniform(rows, column, type)) {
    const element = toElement(rows[0]![column], type)
    return `{${element}${`,${element}`.repeat(rows.length - 1)}}`
  }
  let elements = ''
  for (const row of rows)
    elements += elements === '' ? toElement(row[column], type) : `,${toElement(row[column], type)}`
  return `{${elements}}`
}

/** A value as an element of an array literal. */
function toElement(value: unknown, type: ColumnType): string | number | boolean {
  const param = toParam(value, type)
  if (param === null) return 'NULL'
  return typeof param === 'string' ? quoteElement(param) : param
}

let lastInstant: Date | null = null
let lastInstantText = ''

/** All rows of a flush share one Date object, so the last result nearly always fits. */
function toInstant(date: Date): string {
  if (date === lastInstant) return lastInstantText
  lastInstant = date
  lastInstantText = date.toISOString()
  return lastInstantText
}

/** Text in PostgreSQL cannot contain NUL. */
function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}
