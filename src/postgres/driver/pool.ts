import type { Sql, Tx } from '../sql.ts'
import { isQuery, type Query } from './query.ts'

/**
 * A connection that has prepared this many statements is replaced. The number of different texts is unbounded, because
 * filters and combinations of writes each make their own, and PostgreSQL keeps up to 350 KiB for a prepared one
 * (measured for commits).
 */
export const statementLimit = 200

/** Interval between two looks for unanswered queries. */
const sweepMs = 1_000

/** One connection. */
interface Client {
  sql: Sql
  run: Query['handler']
  /** The number of statements that PostgreSQL keeps prepared for it, without the few fixed ones of transactions. */
  statements: number
  /** For how many sweeps the current query has been unanswered; null while there is none. */
  sweeps: number | null
}

/** The body of a transaction. */
type Run = (tx: Tx) => unknown

interface PoolOptions {
  /** Opens a client of one connection. */
  open: () => Sql
  size: number
  /** Called when a query or transaction gets a connection for which it had to wait. */
  waited?: (ms: number) => void
  /** How long PostgreSQL may take for one answer before the connection is given up; precise to a second. */
  deadlineMs: number
}

/**
 * Shares out clients of one connection each. Queries wait in arrival order until a connection is idle; a transaction
 * has its connection to itself.
 *
 * A connection that leaves a query unanswered until the deadline is replaced, and the query fails: if a host is gone,
 * the operating system reports it only after a quarter of an hour. A transaction may last as long as it keeps asking
 * and is answered. Time is counted in sweeps over the clients, which costs a query nothing and keeps a node that was
 * stopped for a while from mistaking its own silence for PostgreSQL's. Requests for a reserved connection wait without
 * a deadline.
 *
 * postgres.js could hold all connections in one client, but (3.4.9) its lists of connections grow with each query until
 * they happen to be empty, and each query searches them: with four queries at a time over ten connections, a query took
 * 55 us of processor time at first and 170 us after 300,000 (measured; 40 us here). When all connections are busy it
 * also pipelines a query behind another one, which may take seconds.
 */
export function toPool({ open, size, deadlineMs, waited }: PoolOptions): Sql {
  const clients = new Set<Client>()
  const connect = () => {
    const sql = open()
    const client: Client = { sql, run: queryOf(sql.unsafe('')).handler, statements: 0, sweeps: null }
    clients.add(client)
    return client
  }
  // A stack: the most recently used connection is taken first, so that no more are opened than needed.
  const idle = Array.from({ length: size }, connect)
  const waiting: ((client: Client) => void)[] = []
  let isEnded = false

  const renew = (client: Client) => {
    clients.delete(client)
    // The client is out of use, so an error of its ending concerns no caller.
    client.sql.end({ timeout: 1 }).catch(() => {})
    return connect()
  }
  const acquireClient = (use: (client: Client) => void) => {
    const client = idle.pop()
    if (client !== undefined) use(client)
    else if (waited === undefined) waiting.push(use)
    else {
      const since = performance.now()
      waiting.push(next => {
        waited(performance.now() - since)
        use(next)
      })
    }
  }
  const returnClient = (client: Client) => {
    client.sweeps = null
    const isUsable = clients.has(client) && client.statements < statementLimit
    const next = isUsable || isEnded ? client : renew(client)
    const use = waiting.shift()
    if (use === undefined) idle.push(next)
    else use(next)
  }
  const sweepLimit = Math.ceil(deadlineMs / sweepMs)
  const sweep = () => {
    for (const client of clients) {
      if (client.sweeps === null || client.sweeps++ < sweepLimit) continue
      clients.delete(client)
      // Its current query fails, which replaces the connection.
      client.sql.end({ timeout: 0 }).catch(() => {})
    }
  }
  const sweeping = setInterval(sweep, sweepMs).unref()
  const handler = (query: Query) => {
    query.isWaiting = true
    acquireClient(client => {
      query.isWaiting = false
      // postgres.js would wait for ever for an answer to what it has not sent.
      if (query.isDropped === true) return returnClient(client)
      client.sweeps = 0
      client.run(query)
      const over = () => {
        if (query.prepare === true && query.prepared === false) client.statements++
        returnClient(client)
      }
      query.then(over, over)
    })
  }
  const share = <Made>(made: Made): Made => {
    if (isQuery(made)) made.handler = handler
    return made
  }
  const maker = open()
  const pool = {
    json: maker.json,
    unsafe: (...args: Parameters<Sql['unsafe']>) => share(maker.unsafe(...args)),
    async begin(...args: [options: string, run: Run] | [run: Run]) {
      const [options, run] = args.length === 1 ? ['', args[0]] : args
      const client = await new Promise<Client>(acquireClient)
      let isOver = false
      const progress = () => {
        if (!isOver) client.sweeps = 0
      }
      progress()
      try {
        return await client.sql.begin(options, tx => run(watch(tx, progress)))
      } finally {
        isOver = true
        returnClient(client)
      }
    },
    async reserve() {
      const client = await new Promise<Client>(acquireClient)
      // postgres.js never hands out a connection that it opens for `reserve` (issue 1195), so a query opens it first.
      const opened = client.sql`select 1`.then(() => client.sql.reserve())
      const reserved = await opened.catch((error: unknown) => {
        returnClient(client)
        throw error
      })
      const release = () => {
        reserved.release()
        returnClient(client)
      }
      return Object.assign((...args: Parameters<Sql>) => reserved(...args), reserved, { release })
    },
    async end(options?: Parameters<Sql['end']>[0]) {
      isEnded = true
      clearInterval(sweeping)
      await Promise.all(Array.from(clients, ({ sql }) => sql.end(options)))
    },
  }
  // Other methods of a client, such as `listen`, make no sense on a pool. This client only builds queries and never
  // connects.
  const make = (...args: Parameters<Sql>) => share(maker(...args))
  return Object.assign(make, pool) as unknown as Sql
}

/** The given transaction, with `progress` called at each query and each answer. */
function watch(tx: Tx, progress: () => void): Tx {
  const share = <Made>(made: Made): Made => {
    if (!isQuery(made)) return made
    const { handler } = made
    made.handler = query => {
      progress()
      handler(query)
      query.then(progress, progress)
    }
    return made
  }
  const make = (...args: Parameters<Tx>) => share(tx(...args))
  const unsafe = (...args: Parameters<Tx['unsafe']>) => share(tx.unsafe(...args))
  return Object.assign(make, tx, { unsafe }) as unknown as Tx
}

function queryOf(made: object): Query {
  if (!isQuery(made)) throw new Error('This version of postgres.js makes queries of another kind')
  return made
}
