/** A query of postgres.js: built by any client, run by the client whose handler is called with it. */
export interface Query extends PromiseLike<unknown> {
  handler: (query: Query) => void
  /** Set when the query runs: whether its statement is kept prepared, and whether it was already. */
  prepare?: boolean
  prepared?: boolean
  /** True while the query waits in a pool for a connection. */
  isWaiting?: boolean
  /** Set where the query was rejected while it waited: it must not be run. */
  isDropped?: boolean
}

export function isQuery(made: unknown): made is Query {
  return typeof (made as { handler?: unknown }).handler === 'function'
}
