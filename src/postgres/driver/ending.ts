import { pause, systemClock } from '../../lib/clock.ts'
import type { Sql, Tx } from '../sql.ts'
import { isQuery, type Query } from './query.ts'

/** A query of postgres.js with the members that cancel and settle it. */
interface EndingQuery extends Query {
  /** The connection that the query was sent over; null before. */
  state: object | null
  /** Asks PostgreSQL, over another connection, to cancel the query; resolves when PostgreSQL has taken notice. */
  canceller: (query: Query) => Promise<void>
  resolve: (value: unknown) => void
  reject: (reason: unknown) => void
}

/** A query whose connection is being opened is looked at again after this time. A guess. */
const notSentMs = 20

/** The member of a view that holds its pool. */
const pool = Symbol('pool')

/**
 * A view of a pool whose queries end with the signal: one that waits for a connection is dropped, one that runs is
 * cancelled in PostgreSQL, and later ones fail. For the reads of one request, whose client may go away.
 */
export function endWith(sql: Sql, signal: AbortSignal): Sql {
  const share = <Made>(made: Made): Made => {
    if (isQuery(made)) endQueryWith(made as unknown as EndingQuery, signal)
    return made
  }
  const begin = (...args: [options: string, run: (tx: Tx) => unknown] | [run: (tx: Tx) => unknown]) => {
    const [options, run] = args.length === 1 ? ['', args[0]] : args
    return sql.begin(options, tx => {
      const make = (...of: Parameters<Tx>) => share(tx(...of))
      const unsafe = (...of: Parameters<Tx['unsafe']>) => share(tx.unsafe(...of))
      return run(Object.assign(make, tx, { unsafe }) as unknown as Tx)
    })
  }
  const make = (...args: Parameters<Sql>) => share(sql(...args))
  const unsafe = (...args: Parameters<Sql['unsafe']>) => share(sql.unsafe(...args))
  return Object.assign(make, sql, { begin, unsafe, [pool]: poolOf(sql) }) as unknown as Sql
}

/** The pool behind a view, for queries whose answers several requests share: they must not end with one of them. */
export function poolOf<Given extends object>(sql: Given): Given {
  // A view has the type of its pool.
  return (sql as { [pool]?: Given })[pool] ?? sql
}

function endQueryWith(query: EndingQuery, signal: AbortSignal): void {
  const { handler } = query
  query.handler = running => {
    if (signal.aborted) return void query.reject(signal.reason)
    let isOver = false
    const end = () => void endQuery(query, signal.reason, () => isOver)
    signal.addEventListener('abort', end, { once: true })
    const over = () => {
      isOver = true
      signal.removeEventListener('abort', end)
    }
    query.then(over, over)
    handler(running)
  }
}

/**
 * A cancelled query settles when PostgreSQL has taken notice: until then its connection gets no other query, which the
 * cancellation could hit instead.
 */
async function endQuery(query: EndingQuery, reason: unknown, isOver: () => boolean): Promise<void> {
  if (query.isWaiting === true) {
    query.isDropped = true
    query.reject(reason)
    return
  }
  while (query.state === null && !isOver()) await pause(systemClock, notSentMs)
  if (isOver()) return
  const { reject } = query
  // Where PostgreSQL cannot be asked, the query goes on until its own limit of time.
  const noticed = query.canceller(query).catch(() => {})
  query.resolve = () => void noticed.then(() => reject(reason))
  query.reject = query.resolve
}
