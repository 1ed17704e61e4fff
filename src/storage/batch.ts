type ColumnType = 'bigint' | 'int' | 'text' | 'text[]' | 'jsonb' | 'timestamptz' | 'boolean' | 'bytea'

/** One kind of row to write: all rows of a flush, of any number of apps, go in one statement. */
export interface Batch<Row> {
  name: string
  columns: Partial<Record<keyof Row & string, ColumnType>>
  /** The statement; `rows` stands for a table of the rows to write, with the declared columns. */
  sql: (rows: string) => string
  /** Rows with the same key overwrite each other before they are written: only the newest is sent. */
  key?: (row: Row) => unknown
}

/** Declares a write. PostgreSQL changes a row once in a statement, so updates must declare their `key`. */
export function batch<Row extends object>(declared: Batch<Row>): Batch<Row> {
  return declared
}

/**
 * Builds the one statement that a flush writes with: every batch is a `with` member of it. It is all or nothing even
 * where the transaction around it was lost, and then it fails, because `transaction` is not the current one.
 */
export class WriteStatement {
  readonly params: string[] = []
  readonly #parts: string[] = []

  /** `rows` must not be empty. */
  add<Row extends object>({ name, columns, sql }: Batch<Row>, rows: readonly Row[]): void {
    const sources: string[] = []
    const names: string[] = []
    const picks: string[] = []
    for (const [column, type] of Object.entries(columns) as [keyof Row & string, ColumnType][]) {
      this.params.push(toArrayLiteral(rows, column, type))
      // An array of arrays would be flattened by unnest: these travel as text and become arrays row by row.
      sources.push(`$${this.params.length}::${type === 'text[]' ? 'text' : type}[]`)
      names.push(column)
      picks.push(type === 'text[]' ? `${column}::text[] as ${column}` : column)
    }
    const table = `(select ${picks.join(', ')} from unnest(${sources.join(', ')}) as r(${names.join(', ')}))`
    this.#parts.push(`${name} as (${sql(table)})`)
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0
  }

  /** `transaction`: the id of the transaction that holds the locks; any other makes the statement fail as a whole. */
  finish(transaction: string): { text: string; params: string[] } {
    this.params.push(transaction)
    const fence = `select 1 / coalesce(pg_current_xact_id_if_assigned() = $${this.params.length}::xid8, false)::int`
    return { text: `with ${this.#parts.join(',\n')}\n${fence}`, params: this.params }
  }
}

function toArrayLiteral<Row>(rows: readonly Row[], column: keyof Row, type: ColumnType): string {
  const first = toElement(rows[0]![column], type)
  // Most columns of most flushes hold one value: null, zero, the time of the flush.
  if (rows.every(row => toElement(row[column], type) === first))
    return `{${first}${`,${first}`.repeat(rows.length - 1)}}`
  return `{${rows.map(row => toElement(row[column], type)).join()}}`
}

/** What stands for a value in an array literal. */
function toElement(value: unknown, type: ColumnType): string | number | boolean {
  if (value === null || value === undefined) return 'NULL'
  switch (type) {
    case 'bigint':
    case 'int':
    case 'boolean':
      return value as number | boolean
    case 'timestamptz':
      return toInstant(value as Date)
    case 'bytea':
      return `"\\\\x${(value as Buffer).toString('hex')}"`
    case 'jsonb':
      return quote(JSON.stringify(value))
    case 'text[]':
      return (value as string[]).length === 0 ? '"{}"' : quote(`{${(value as string[]).map(quote).join()}}`)
    case 'text':
      return quote(value as string)
  }
}

/** PostgreSQL text holds no NUL, and array literals escape quotes and backslashes. */
function quote(text: string): string {
  const clean = text.includes('\0') ? text.replaceAll('\0', '') : text
  return /["\\]/.test(clean) ? `"${clean.replace(/["\\]/g, '\\$&')}"` : `"${clean}"`
}

let lastInstant: Date | null = null
let lastInstantText = ''

/** All rows of a flush carry the same Date object, so the last answer nearly always fits. */
function toInstant(date: Date): string {
  if (date === lastInstant) return lastInstantText
  lastInstant = date
  lastInstantText = `"${date.toISOString()}"`
  return lastInstantText
}
