import type { Sql } from '../../src/postgres/sql.ts'

/** The same database behind a line on which the first answer is late, until it is released. It only takes queries. */
export function slowed(sql: Sql) {
  const arrival = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const late = async (strings: TemplateStringsArray, ...values: never[]) => {
    const rows = await sql(strings, ...values)
    arrival.resolve()
    await gate.promise
    return rows
  }
  return { slow: late as unknown as Sql, arrived: arrival.promise, release: gate.resolve }
}
