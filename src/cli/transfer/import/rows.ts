import { drawsFor, numbersOf } from '../../../log/id-pool.ts'
import type { Db, Tx } from '../../../postgres/sql.ts'

/** Runs work in a transaction. */
export type Commit = <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result>

/** Inserts rows; a column that a row lacks is null. `conflict`: what else is to be done, such as `on conflict do nothing`. */
export async function insertRows(db: Db, table: string, rows: readonly object[], conflict = ''): Promise<void> {
  if (rows.length === 0) return
  const columns = [...new Set(rows.flatMap(row => Object.keys(row)))].join()
  await db.unsafe(
    `insert into ${table} (${columns})
    select ${columns} from jsonb_populate_recordset(null::${table}, $1::text::jsonb) ${conflict}`,
    [JSON.stringify(rows)],
  )
}

/** Draws ids of a table that has its own line of them. */
export async function drawIds(db: Db, table: string, count: number): Promise<number[]> {
  if (count === 0) return []
  const rows = await db<{ id: number }[]>`
    select nextval(pg_get_serial_sequence(${table}, 'id')) as id from generate_series(1, ${count}::int)`
  return rows.map(({ id }) => id)
}

/** Ascending numbers of the one line of ids and revs. No node runs, so they are above all that were used. */
export class Numbers {
  #drawn: number[] = []
  #used = 0

  /** Draws so many ahead. */
  async draw(db: Db, count: number): Promise<void> {
    const rows = await db<{ first: number }[]>`
      select nextval('numbers') as first from generate_series(1, ${drawsFor(count)}::int)`
    this.#drawn = numbersOf(rows.map(({ first }) => first))
    this.#used = 0
  }

  next(): number {
    const number = this.#drawn[this.#used++]
    if (number === undefined) throw new Error('More numbers are used than were drawn')
    return number
  }
}
