/**
 * Carries messages between nodes: plain values, dates and bytes.
 *
 * At most once: a message may be lost when a node or Redis restarts, and is never repeated. Whatever must arrive is in
 * the event log; the bus only says that there is something new to read. Messages of one node on one channel keep
 * their order; between nodes there is none.
 */
export interface Bus {
  /** Sends to every node that has subscribed, this one included. Never throws and never waits: what cannot go is lost. */
  publish(channel: string, message: object): void
  /** Calls `hear` for later messages. One listener a channel; the returned function ends it. */
  subscribe(channel: string, hear: (message: unknown) => void): () => void
  /** Resolves soon, when what was published has left; nothing is delivered after it. Safe to call twice. */
  close(): Promise<void>
}
