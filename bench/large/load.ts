import { openSql, type Sql } from '../../src/postgres/sql.ts'
import { appSteps } from './app-steps.ts'
import { contentSteps } from './content-steps.ts'
import { dropIndexes } from './indexes.ts'
import { toExpressions, toLayout } from './layout.ts'
import { noticeSteps } from './notice-steps.ts'
import { peopleSteps } from './people-steps.ts'
import type { Size } from './size.ts'
import { leftovers, type Step } from './step.ts'

/** Rows in one statement: few enough to show progress. */
const portion = 250_000

/** Connections that load: sorting for indexes takes as much memory on each. */
const loaders = 2

/** For the load alone: what is not yet on the disk when the machine fails is loaded anew. */
const settings = `set maintenance_work_mem = '768MB'; set work_mem = '256MB'; set synchronous_commit = off`

/** Longer than any step of a load takes on a slow machine; a guess. */
const statementTimeoutMs = 3_600_000

/**
 * Fills a migrated database that nobody has used: rows by SQL, as the server would have left them, and then the indexes of
 * their tables as they were. Everything follows from numbers, so two loads differ in nothing but the day.
 */
export async function load(url: string, size: Size, say: (line: string) => void): Promise<void> {
  const connections = Array.from({ length: loaders }, () => openSql({ url, connections: 1, statementTimeoutMs }))
  try {
    for (const sql of connections) await sql.unsafe(settings)
    for (const step of toSteps(size)) await take(step, connections, say)
    await connections[0]!.unsafe(`drop table ${leftovers.join(', ')}`)
    await connections[0]!.unsafe('vacuum (analyze)')
  } finally {
    await Promise.all(connections.map(sql => sql.end({ timeout: 1 })))
  }
}

function toSteps(size: Size): Step[] {
  const layout = toLayout(size)
  const made = toExpressions(size)
  return [
    ...peopleSteps(size, made),
    ...contentSteps(size, layout, made),
    ...appSteps(size, layout, made),
    ...noticeSteps(size, layout, made),
  ]
}

async function take({ name, tables, count, sql: toSql }: Step, connections: Sql[], say: (line: string) => void) {
  const startedAt = performance.now()
  const passedSeconds = () => ((performance.now() - startedAt) / 1000).toFixed(1)
  const [first] = connections
  const dropped = await dropIndexes(first!, tables)
  let done = 0
  const portions = Array.from({ length: Math.ceil(count / portion) }, (_, at) => async (sql: Sql) => {
    const [from, to] = [at * portion + 1, Math.min(count, (at + 1) * portion)]
    await sql.unsafe(toSql(from, to))
    done += to - from + 1
    if (++at % 8 === 0)
      say(`  ${name}: ${done.toLocaleString('en')} of ${count.toLocaleString('en')}, ${passedSeconds()} s`)
  })
  await each(portions, connections)
  for (const make of dropped.constraints) await first!.unsafe(make)
  await each(
    dropped.indexes.map(make => (sql: Sql) => sql.unsafe(make)),
    connections,
  )
  for (const table of tables) await first!.unsafe(`vacuum (analyze) ${table}`)
  say(`${name}: ${passedSeconds()} s`)
}

/** Does each on whichever connection is free. */
async function each(tasks: ((sql: Sql) => Promise<unknown>)[], connections: Sql[]): Promise<void> {
  const left = tasks.values()
  await Promise.all(
    connections.map(async sql => {
      for (const task of left) await task(sql)
    }),
  )
}
