import type { HttpRequest } from 'uWebSockets.js'
import type { Codec } from '../protocols/protocol.ts'

export interface ClientOriginsParts {
  /** Scheme and host under which the client of an upgrade request reaches this server. */
  of: (req: HttpRequest) => string
  /** Where clients are sent that come under one address too many. */
  fallback: () => string
}

/**
 * Addresses under which sessions come at one time. What happens is encoded for each of them, and a client can ask for
 * any: beyond these, links are those of the fallback. A guess, above what a server that is not misused has.
 */
const limit = 16

/** Origins that one user may add, as at home, at work and on the road. A guess. */
const ownLimit = 3

/** Scheme and host as some clients know this server: the links in their frames begin with it. */
export class ClientOrigin {
  readonly origin: string
  readonly #topics: string
  readonly #forms = new Map<Codec, Codec>()
  /** How many there are now. */
  sessions = 0

  /** `number` keeps its topics apart from those of other origins. */
  constructor(origin: string, number: number) {
    this.origin = origin
    this.#topics = `:${number}`
  }

  /** The form as it is written for these clients; there is one object for it. */
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

/** The addresses under which this node has sessions now. */
export class ClientOrigins {
  readonly #parts: ClientOriginsParts
  readonly #inUse = new Map<string, ClientOrigin>()
  #made = 0

  constructor(parts: ClientOriginsParts) {
    this.#parts = parts
  }

  /** What an upgrade request says. */
  of(req: HttpRequest): string {
    return this.#parts.of(req)
  }

  /**
   * The origin for a session that is opened, shared with all sessions under it; `held` are the origins of the user's
   * other sessions. Call it for authenticated sessions only: clients without a token could take all the room.
   */
  acquire(origin: string, held: ReadonlySet<ClientOrigin>): ClientOrigin {
    const hasRoom = this.#inUse.has(origin) || (this.#inUse.size < limit && held.size < ownLimit)
    const granted = hasRoom ? origin : this.#parts.fallback()
    const address = this.#inUse.get(granted) ?? new ClientOrigin(granted, ++this.#made)
    this.#inUse.set(granted, address)
    address.sessions++
    return address
  }

  /** It has ended. */
  release(address: ClientOrigin): void {
    if (--address.sessions === 0) this.#inUse.delete(address.origin)
  }
}
