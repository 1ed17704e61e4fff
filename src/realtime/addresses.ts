import type { HttpRequest } from 'uWebSockets.js'
import type { Form } from './protocol.ts'

export interface AddressesParts {
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

/** Of these, one user may take so many that nobody else has: at home, at work and on the road. A guess. */
const ownLimit = 3

/** Scheme and host as some of the clients know this server: links that they are told begin with it. */
export class Address {
  readonly origin: string
  readonly #topics: string
  readonly #forms = new Map<Form, Form>()
  /** How many there are now. */
  sessions = 0

  /** `number` tells its topics from those of other addresses. */
  constructor(origin: string, number: number) {
    this.origin = origin
    this.#topics = `:${number}`
  }

  /** The form as it is written for these clients; there is one object for it. */
  form(plain: Form): Form {
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
export class Addresses {
  readonly #parts: AddressesParts
  readonly #inUse = new Map<string, Address>()
  #made = 0

  constructor(parts: AddressesParts) {
    this.#parts = parts
  }

  /** What an upgrade request says. */
  of(req: HttpRequest): string {
    return this.#parts.of(req)
  }

  /**
   * A session is opened whose client knows this server under the origin; `held` are those of the same user's other
   * sessions. For nobody else: whoever need not say who they are could take all the room.
   */
  arrive(origin: string, held: ReadonlySet<Address>): Address {
    const hasRoom = this.#inUse.has(origin) || (this.#inUse.size < limit && held.size < ownLimit)
    const granted = hasRoom ? origin : this.#parts.fallback()
    const address = this.#inUse.get(granted) ?? new Address(granted, ++this.#made)
    this.#inUse.set(granted, address)
    address.sessions++
    return address
  }

  /** It has ended. */
  leave(address: Address): void {
    if (--address.sessions === 0) this.#inUse.delete(address.origin)
  }
}
