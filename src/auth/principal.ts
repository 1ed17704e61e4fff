/**
 * Who acts. With an API key there is no user: the system user 0 stands in as actor and author. `credential` tells
 * one token or key from another without revealing it; rate limits, and the idempotency keys of API keys, hang on it.
 */
export interface Principal {
  readonly kind: 'key' | 'user' | 'nobody'
  readonly user: number
  readonly credential: string
  /** The session of the administration page that the key acts through, if it does. */
  readonly session?: number | undefined
  /** Where the request came from, and its id: of requests that keys change something with. */
  readonly ip?: string | undefined
  readonly request?: string | undefined
}

export const systemUser = 0
export const deletedUser = -1

/** The server itself, which may do what an API key may. */
export const server: Principal = { kind: 'key', user: systemUser, credential: '' }

/** Who calls an endpoint that needs no credential. */
export const unauthenticated: Principal = { kind: 'nobody', user: deletedUser, credential: '' }
