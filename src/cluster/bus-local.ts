import type { Log } from '../lib/log.ts'
import type { Bus } from './bus.ts'
import { Listeners, packMessage, type ReadMessage } from './message.ts'

/**
 * The bus of a node without Redis: what it publishes, it alone receives, in a later turn of the event loop. A message that
 * has no listener costs nothing. What has not been delivered when the process dies, or `close` is called, is lost.
 */
export class LocalBus implements Bus {
  readonly reachesOtherNodes = false
  readonly isConnected = true
  readonly #listeners: Listeners

  constructor(log: Log) {
    this.#listeners = new Listeners(log)
  }

  publish(channel: string, message: object): void {
    if (!this.#listeners.has(channel)) return
    const bytes = packMessage(message)
    setImmediate(() => this.#listeners.deliver(channel, bytes))
  }

  subscribe<Message>(channel: string, read: ReadMessage<Message>, listener: (message: Message) => void): () => void {
    this.#listeners.set(channel, read, listener)
    return () => this.#listeners.delete(channel)
  }

  async close(): Promise<void> {
    this.#listeners.clear()
  }
}
