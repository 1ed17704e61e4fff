import type { ReadMessage } from './message.ts'

/**
 * Carries messages between nodes: plain values, dates and bytes.
 *
 * At most once: a message may be lost when a node or Redis restarts, and is never repeated. Whatever must arrive is in
 * the event log; the bus only says that there is something new to read. Messages of one node on one channel keep
 * their order; between nodes there is none.
 */
export interface Bus {
  /** False for a node without Redis: other nodes on its database find by their polls what it does. */
  readonly reachesOtherNodes: boolean
  /** Whether messages can travel now. */
  readonly isConnected: boolean
  /**
   * Sends to every node that has subscribed, this one included. Never throws and never waits: what cannot go is lost.
   */
  publish(channel: string, message: object): void
  /**
   * Calls `listener` for later messages, never within a call of `publish`. A message that `read` refuses, or that the
   * listener fails on, is dropped and logged. One listener a channel; the returned function ends it.
   */
  subscribe<Message>(channel: string, read: ReadMessage<Message>, listener: (message: Message) => void): () => void
  /** Resolves soon, when what was published has left; nothing is delivered after it. Safe to call twice. */
  close(): Promise<void>
}
