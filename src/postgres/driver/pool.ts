import type { Sql, Tx } from '../sql.ts'

/**
 * A connection that has prepared so many statements is replaced. What is asked for, and what is written together, makes
 * their texts, and there is no end to it; PostgreSQL keeps up to 350 KiB for each (measured for commits).
 */
export const statementLimit = 200

/** How often a pool looks for what is not answered. */
const sweepMs = 1_000

/** A query of postgres.js: made by any client, run by the one whose handler is called with it. */
interface Query extends PromiseLike<unknown> {
  handler: (query: Query) => void
  /** Set when it runs: whether its statement is to be kept, and whether the connection had it already. */
  prepare?: boolean
  prepared?: boolean
}

/** One connection. */
interface Client {
  sql: Sql
  run: Query['handler']
  /** How many statements PostgreSQL keeps for it, beside those of transactions: these are always the same few. */
  statements: number
  /** How many sweeps it has left the same thing unanswered; null where nothing is waited for. */
  sweeps: number | null
}

/** What is done in a transaction. */
type Run = (tx: Tx) => unknown

interface PoolOptions {
  /** Opens a client of one connection. */
  open: () => Sql
  size: number
  /** Called when a query or transaction gets a connection for which it had to wait. */
  waited?: (ms: number) => void
  /** How long PostgreSQL may take for one answer, to the second, before the connection is given up. */
  deadlineMs: number
}

/**
 * Shares clients of one connection each: a query waits until one of them has nothing else to do, behind nothing but those
 * that came before it. A transaction has its connection alone.
 *
 * A connection that leaves a query unanswered until the deadline is replaced, and the query fails: of a host that is gone,
 * the system would tell after a quarter of an hour. A transaction may last, as long as it asks and is answered. Time is
 * counted in sweeps over the clients, so that it costs a query nothing, and a node that was stopped does not take its own
 * silence for PostgreSQL's. What is reserved waits for as long as it takes.
 *
 * postgres.js could have all connections in one client, but (3.4.9) it keeps these in lists that grow with each query
 * until they happen to be empty, and looks through them for each: four at a time over ten connections, a query took 55 us
 * of processor time at first and 170 after 300,000 (measured; 40 here). And where all are busy it sends a query along
 * behind another, which may take seconds.
 */
export function toPool({ open, size, deadlineMs, waited }: PoolOptions): Sql {
  const clients = new Set<Client>()
  const connect = () => {
    const sql = open()
    const client: Client = { sql, run: queryOf(sql.unsafe('')).handler, statements: 0, sweeps: null }
    clients.add(client)
    return client
  }
  // The last one that was used comes first, so that no more connections are made than are needed.
  const idle = Array.from({ length: size }, connect)
  const waiting: ((client: Client) => void)[] = []
  let isEnded = false

  const renew = (client: Client) => {
    clients.delete(client)
    // Nobody uses it any more, so nobody can do anything about how it ends.
    client.sql.end({ timeout: 1 }).catch(() => {})
    return connect()
  }
  const take = (use: (client: Client) => void) => {
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
  const give = (client: Client) => {
    client.sweeps = null
    const isUsable = clients.has(client) && client.statements < statementLimit
    const next = isUsable || isEnded ? client : renew(client)
    const use = waiting.shift()
    if (use === undefined) idle.push(next)
    else use(next)
  }
  const patience = Math.ceil(deadlineMs / sweepMs)
  const sweep = () => {
    for (const client of clients) {
      if (client.sweeps === null || client.sweeps++ < patience) continue
      clients.delete(client)
      // What it was asked fails, and that replaces it.
      client.sql.end({ timeout: 0 }).catch(() => {})
    }
  }
  const sweeping = setInterval(sweep, sweepMs).unref()
  const handler = (query: Query) =>
    take(client => {
      client.sweeps = 0
      client.run(query)
      const over = () => {
        if (query.prepare === true && query.prepared === false) client.statements++
        give(client)
      }
      query.then(over, over)
    })
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
      const client = await new Promise<Client>(take)
      let isOver = false
      const progress = () => {
        if (!isOver) client.sweeps = 0
      }
      progress()
      try {
        return await client.sql.begin(options, tx => run(watch(tx, progress)))
      } finally {
        isOver = true
        give(client)
      }
    },
    async reserve() {
      const client = await new Promise<Client>(take)
      // postgres.js never hands out a connection that it opens for `reserve` (issue 1195), so a query opens it before.
      const opened = client.sql`select 1`.then(() => client.sql.reserve())
      const reserved = await opened.catch((error: unknown) => {
        give(client)
        throw error
      })
      const release = () => {
        reserved.release()
        give(client)
      }
      return Object.assign((...args: Parameters<Sql>) => reserved(...args), reserved, { release })
    },
    async end(options?: Parameters<Sql['end']>[0]) {
      isEnded = true
      clearInterval(sweeping)
      await Promise.all(Array.from(clients, ({ sql }) => sql.end(options)))
    },
  }
  // What else a client can do, such as to listen, is not for a pool. This one makes queries, and never connects.
  const make = (...args: Parameters<Sql>) => share(maker(...args))
  return Object.assign(make, pool) as unknown as Sql
}

/** The same transaction, which calls `progress` whenever it asks and is answered. */
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

function isQuery(made: unknown): made is Query {
  return typeof (made as { handler?: unknown }).handler === 'function'
}

function queryOf(made: object): Query {
  if (!isQuery(made)) throw new Error('This version of postgres.js makes queries of another kind')
  return made
}
