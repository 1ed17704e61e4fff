/**
 * The authenticated caller of a request. An API key has no user: the system user 0 is its actor and author.
 * `credential` identifies a token or key without revealing it; rate limits, and the idempotency keys of API keys, are
 * counted by it.
 */
export interface Principal {
  readonly kind: 'key' | 'user' | 'nobody'
  readonly user: number
  readonly credential: string
  /** The session of the administration page, where the key acts through one. */
  readonly session?: number | undefined
  /** The remote address and id of the request, for the audit log; set where an API key changes something. */
  readonly ip?: string | undefined
  readonly request?: string | undefined
}

export const systemUser = 0
export const deletedUser = -1

/** The server itself, with the rights of an API key. */
export const server: Principal = { kind: 'key', user: systemUser, credential: '' }

/** The caller of an endpoint that needs no credential. */
export const unauthenticated: Principal = { kind: 'nobody', user: deletedUser, credential: '' }
