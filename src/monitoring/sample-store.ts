import type { Db } from '../postgres/sql.ts'
import { figures, type FigureName } from './figures.ts'

const counters = Object.entries(figures).flatMap(([name, kind]) => (kind === 'counter' ? [name] : []))

/**
 * Writes the figures of one minute, and the size of the database, in one statement. Counters are added to the minute's
 * values.
 */
export async function insertSamples(db: Db, node: string, minute: Date, values: Map<string, number>): Promise<void> {
  const rows = Array.from(values, ([name, value]) => ({ name, value }))
  await db`
    insert into samples (name, minute, node, value)
    select r.name, ${minute}, ${node}, r.value
    from (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as r(name text, value double precision)
      union all select 'database_bytes', pg_database_size(current_database())
    ) r
    on conflict (name, minute, node) do update set
      value = excluded.value + case when excluded.name = any(${counters}::text[]) then samples.value else 0 end`
}

interface SeriesRequest {
  name: FigureName
  from: Date
  to: Date
  stepSeconds: number
  /** Restricts the series to this node. */
  node: string | undefined
}

/** The values of steps that have any, in order of time; see `figures`. Served by samples_pkey. */
export function listSeries(
  db: Db,
  { name, from, to, stepSeconds, node }: SeriesRequest,
): Promise<{ at: Date; value: number }[]> {
  const kind = figures[name]
  const ofNodes = kind === 'worst' ? db`max(value)` : db`sum(value)`
  const ofMinutes = kind === 'worst' ? db`max(value)` : kind === 'counter' ? db`sum(value)` : db`avg(value)`
  return db<{ at: Date; value: number }[]>`
    select to_timestamp(floor(extract(epoch from minute) / ${stepSeconds}) * ${stepSeconds}) as at, ${ofMinutes} as value
    from (
      select minute, ${ofNodes} as value from samples
      where name = ${name} and minute >= ${from} and minute < ${to} ${node === undefined ? db`` : db`and node = ${node}`}
      group by minute
    ) minutes
    group by at order by at`
}

/** Removes samples before a time. Served by samples_minute. */
export async function removeSamples(db: Db, before: Date): Promise<void> {
  await db`delete from samples where minute < ${before}`
}
