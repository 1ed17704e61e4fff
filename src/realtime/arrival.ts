import { closeCodes, type Session } from './session.ts'

/** What a client may say before its token was looked up: a handshake and its subscriptions. A guess. */
const heldBytes = 64 * 1024
const heldMessages = 600

/** A session whose token is being looked up, and what its client has said meanwhile, which is bounded. */
export class Arrival {
  readonly session: Session
  readonly #messages: { bytes: ArrayBuffer; isBinary: boolean }[] = []
  #bytes = 0

  constructor(session: Session) {
    this.session = session
  }

  /** Keeps a copy: uWebSockets.js takes the message back when its handler returns. */
  hold(message: ArrayBuffer, isBinary: boolean): void {
    this.#bytes += message.byteLength
    if (this.#bytes > heldBytes || this.#messages.length >= heldMessages) {
      this.session.close(closeCodes.tooMany, 'too much before the welcome')
      return
    }
    this.#messages.push({ bytes: message.slice(0), isBinary })
  }

  /** Gives everything that was said, in order. */
  release(hear: (message: ArrayBuffer, isBinary: boolean) => void): void {
    for (const { bytes, isBinary } of this.#messages.splice(0)) hear(bytes, isBinary)
  }
}
