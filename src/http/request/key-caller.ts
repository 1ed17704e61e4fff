import type { Principal } from '../../auth/principal.ts'

/**
 * An API key as the principal of one request, with the request's origin for the audit log. The address is read only
 * where it is needed: that costs a tenth of a whole request.
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
