import { closeCodes, type Session } from './session.ts'

/** What a client may say before its token was looked up: a handshake and its subscriptions. A guess. */
const heldBytes = 64 * 1024
const heldMessages = 600

/** What all clients together may: a thousand of the most talkative. PostgreSQL may be slow, and tokens cost nothing. */
const lobbyBytes = 64 * 1024 * 1024

/** All whose tokens are being looked up. */
export class Lobby {
  /** What is held of them. */
  bytes = 0
}

/** A session whose token is being looked up, and what its client has said meanwhile, which is bounded. */
export class Arrival {
  readonly session: Session
  readonly #lobby: Lobby
  #messages: { bytes: ArrayBuffer; isBinary: boolean }[] = []
  #bytes = 0

  constructor(session: Session, lobby: Lobby) {
    this.session = session
    this.#lobby = lobby
  }

  /** Keeps a copy: uWebSockets.js takes the message back when its handler returns. */
  hold(message: ArrayBuffer, isBinary: boolean): void {
    const size = message.byteLength
    if (this.#bytes + size > heldBytes || this.#messages.length >= heldMessages) {
      this.session.close(closeCodes.tooMany, 'too much before the welcome')
      return
    }
    if (this.#lobby.bytes + size > lobbyBytes) {
      this.session.close(closeCodes.failed, 'reconnect')
      return
    }
    this.#bytes += size
    this.#lobby.bytes += size
    this.#messages.push({ bytes: message.slice(0), isBinary })
  }

  /** Gives everything that was said, in order; nothing is held any more. */
  release(hear: (message: ArrayBuffer, isBinary: boolean) => void = () => {}): void {
    const messages = this.#messages
    this.#messages = []
    this.#lobby.bytes -= this.#bytes
    this.#bytes = 0
    for (const { bytes, isBinary } of messages) hear(bytes, isBinary)
  }
}
