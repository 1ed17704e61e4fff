import { idsPerDraw } from '../../log/id-pool.ts'
import { batchLoads } from '../../postgres/batch-loads.ts'

/** Draws the numbers that the commands of one transaction ask for at one time, in one query. */
export const drawTogether = batchLoads<{ count: number }, number[]>(async (sql, requests) => {
  const total = requests.reduce((sum, { count }) => sum + count, 0)
  // The transaction gets its own id first: a node that polls for new revs asks which transactions are open.
  const [row] = await sql<{ firsts: number[] }[]>`
    select array(select nextval('numbers') from generate_series(1, ${Math.ceil(total / idsPerDraw)}::int)) as firsts
    from pg_current_xact_id()`
  const ids = toIds(row!.firsts, total)
  return new Map(requests.map(request => [request, ids.splice(0, request.count)]))
})

/** The first `count` numbers of several draws, from the first number of each. */
export function toIds(firsts: number[], count: number): number[] {
  return Array.from({ length: count }, (_, at) => firsts[Math.floor(at / idsPerDraw)]! + (at % idsPerDraw))
}
