import type { Principal } from '../../auth/principal.ts'

/**
 * A key as the caller of one request: what it changes is written down with where the request came from. The address is
 * asked for only where that is done, as asking costs a tenth of a whole request.
 */
export class KeyCaller implements Principal {
  readonly kind = 'key'
  readonly user: number
  readonly credential: string
  readonly session: number | undefined
  /** The id of the request. */
  readonly request: string
  readonly #address: () => string

  constructor({ user, credential, session }: Principal, request: string, address: () => string) {
    this.user = user
    this.credential = credential
    this.session = session
    this.request = request
    this.#address = address
  }

  /** Undefined once the client has gone away. */
  get ip(): string | undefined {
    return this.#address() || undefined
  }
}
