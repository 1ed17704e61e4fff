import type { Codec } from '../protocols/protocol.ts'

/**
 * The most origins of concurrent sessions. Events are encoded for each of them, and a client can name any: beyond the
 * limit, links use the fallback. A guess, above what an honest server has.
 */
const limit = 16

/** The most origins that one user may add, as at home, at work and on the road. A guess. */
const ownLimit = 3

/** An origin of this server as some clients know it: the links in their frames begin with it. */
export class ClientOrigin {
  readonly origin: string
  readonly #topics: string
  readonly #forms = new Map<Codec, Codec>()
  /** The number of its open sessions. */
  sessions = 0

  /** `number` distinguishes its topics from the topics of other origins. */
  constructor(origin: string, number: number) {
    this.origin = origin
    this.#topics = `:${number}`
  }

  /** The codec of the protocol for this origin; one object for each. */
  codec(plain: Codec): Codec {
    let own = this.#forms.get(plain)
    if (own === undefined) {
      own = {
        ...plain,
        encode: frame => plain.encode(frame, this.origin),
        topic: (app, event) => plain.topic(app, event) + this.#topics,
      }
      this.#forms.set(plain, own)
    }
    return own
  }
}

/** The origins of this node's open sessions. */
export class ClientOrigins {
  readonly #fallback: () => string
  readonly #inUse = new Map<string, ClientOrigin>()
  #made = 0

  /** `fallback` gives the origin for clients beyond the limits above. */
  constructor(fallback: () => string) {
    this.#fallback = fallback
  }

  /**
   * The origin for a session that opens, shared by all sessions under it; `held` are the origins of the user's other
   * sessions. Call it for authenticated sessions only: others could use up all origins.
   */
  acquire(origin: string, held: ReadonlySet<ClientOrigin>): ClientOrigin {
    const hasRoom = this.#inUse.has(origin) || (this.#inUse.size < limit && held.size < ownLimit)
    const acquired = hasRoom ? origin : this.#fallback()
    const clientOrigin = this.#inUse.get(acquired) ?? new ClientOrigin(acquired, ++this.#made)
    this.#inUse.set(acquired, clientOrigin)
    clientOrigin.sessions++
    return clientOrigin
  }

  /** Releases the origin of a session that has ended. */
  release(clientOrigin: ClientOrigin): void {
    if (--clientOrigin.sessions === 0) this.#inUse.delete(clientOrigin.origin)
  }
}
