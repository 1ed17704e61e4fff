import type { Bus } from './bus.ts'
import { packMessage, unpackMessage } from './message.ts'

/**
 * The bus of a node without Redis: what it publishes, it alone receives, in a later turn of the event loop. A message that
 * has no listener costs nothing. What has not been delivered when the process dies, or `close` is called, is lost.
 */
export class LocalBus implements Bus {
  readonly reachesOtherNodes = false
  readonly isConnected = true
  readonly #listeners = new Map<string, (message: unknown) => void>()

  publish(channel: string, message: object, onUnheard?: () => void): void {
    if (!this.#listeners.has(channel)) {
      if (onUnheard !== undefined) setImmediate(onUnheard)
      return
    }
    const bytes = packMessage(message)
    setImmediate(() => this.#listeners.get(channel)?.(unpackMessage(bytes)))
  }

  subscribe(channel: string, listener: (message: unknown) => void): () => void {
    this.#listeners.set(channel, listener)
    return () => void this.#listeners.delete(channel)
  }

  async close(): Promise<void> {
    this.#listeners.clear()
  }
}
