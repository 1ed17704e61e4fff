import type { Sql } from './sql.ts'

/** A query of postgres.js: made by any client, run by the one whose handler is called with it. */
interface Query extends PromiseLike<unknown> {
  handler: (query: Query) => void
}

/** One connection. */
interface Client {
  sql: Sql
  run: Query['handler']
}

/**
 * Shares clients of one connection each: a query waits until one of them has nothing else to do, behind nothing but those
 * that came before it. A transaction has its connection alone.
 *
 * postgres.js could have all connections in one client, but (3.4.9) it keeps these in lists that grow with each query
 * until they happen to be empty, and looks through them for each: four at a time over ten connections, a query took 55 us
 * of processor time at first and 170 after 300,000 (measured; 40 here). And where all are busy it sends a query along
 * behind another, which may take seconds.
 */
export function toPool(clients: [Sql, ...Sql[]]): Sql {
  // The last one that was used comes first, so that no more connections are made than are needed.
  const idle: Client[] = clients.map(sql => ({ sql, run: queryOf(sql.unsafe('')).handler })).reverse()
  const waiting: ((client: Client) => void)[] = []

  const take = (use: (client: Client) => void) => {
    const client = idle.pop()
    if (client === undefined) waiting.push(use)
    else use(client)
  }
  const give = (client: Client) => {
    const use = waiting.shift()
    if (use === undefined) idle.push(client)
    else use(client)
  }
  /** Gives a connection back when what it does is over, one way or the other. */
  const giveAfter = (client: Client, work: PromiseLike<unknown>) => {
    const over = () => give(client)
    work.then(over, over)
  }

  const handler = (query: Query) =>
    take(client => {
      client.run(query)
      giveAfter(client, query)
    })
  const share = <Made>(made: Made): Made => {
    if (isQuery(made)) made.handler = handler
    return made
  }
  const [maker] = clients
  const { json, array, typed, types, options } = maker
  const pool = {
    unsafe: (...args: Parameters<Sql['unsafe']>) => share(maker.unsafe(...args)),
    async begin(...args: Parameters<Sql['begin']>) {
      const client = await new Promise<Client>(take)
      const work = client.sql.begin(...args)
      giveAfter(client, work)
      return await work
    },
    async reserve() {
      const client = await new Promise<Client>(take)
      const work = client.sql.reserve()
      work.catch(() => give(client))
      const reserved = await work
      const release = () => {
        reserved.release()
        give(client)
      }
      return Object.assign((...args: Parameters<Sql>) => reserved(...args), reserved, { release })
    },
    async end(options?: Parameters<Sql['end']>[0]) {
      await Promise.all(clients.map(client => client.end(options)))
    },
  }
  // What else a client can do, such as to listen, is not for a pool.
  const make = (...args: Parameters<Sql>) => share(maker(...args))
  return Object.assign(make, { json, array, typed, types, options }, pool) as unknown as Sql
}

function isQuery(made: unknown): made is Query {
  return typeof (made as { handler?: unknown }).handler === 'function'
}

function queryOf(made: object): Query {
  if (!isQuery(made)) throw new Error('This version of postgres.js makes queries of another kind')
  return made
}
