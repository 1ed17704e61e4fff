import { closeCodes, type Session } from './session.ts'

/** What a client may send while its token is looked up: a handshake and its subscriptions. A guess. */
const heldBytes = 64 * 1024
const heldMessages = 600

/**
 * The limit of all pending sessions together: a thousand of the most talkative. PostgreSQL may be slow, and invalid
 * tokens cost nothing.
 */
const totalBytes = 64 * 1024 * 1024

/**
 * A session whose token is being looked up, with the messages that its client has sent meanwhile, which are bounded.
 */
export class PendingSession {
  readonly session: Session
  readonly #budget: { bytes: number }
  #messages: { bytes: ArrayBuffer; isBinary: boolean }[] = []
  #bytes = 0

  /** `budget`: the bytes that all pending sessions hold together. */
  constructor(session: Session, budget: { bytes: number }) {
    this.session = session
    this.#budget = budget
  }

  /** Keeps a copy, because uWebSockets.js reuses the message's memory. */
  hold(message: ArrayBuffer, isBinary: boolean): void {
    const size = message.byteLength
    if (this.#bytes + size > heldBytes || this.#messages.length >= heldMessages) {
      this.session.close(closeCodes.tooMany, 'too much before the welcome')
      return
    }
    if (this.#budget.bytes + size > totalBytes) {
      this.session.close(closeCodes.failed, 'reconnect')
      return
    }
    this.#bytes += size
    this.#budget.bytes += size
    this.#messages.push({ bytes: message.slice(0), isBinary })
  }

  /** Hands over all messages in order, and holds none any more. */
  release(onMessage: (message: ArrayBuffer, isBinary: boolean) => void = () => {}): void {
    const messages = this.#messages
    this.#messages = []
    this.#budget.bytes -= this.#bytes
    this.#bytes = 0
    for (const { bytes, isBinary } of messages) onMessage(bytes, isBinary)
  }
}
