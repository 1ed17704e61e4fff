/**
 * The authenticated caller of a request. An API key has no user: the system user 0 is its actor and author.
 * `credential` identifies a token or key without revealing it; rate limits, and the idempotency keys of API keys, are
 * counted by it.
 */
export interface Principal {
  readonly kind: 'key' | 'user' | 'nobody'
  readonly user: number
  readonly credential: string
  /** The id of the key of the host that its token is signed with, where it is one of the host. */
  readonly signedBy?: string | undefined
  /** What its user has allowed a client, where the token comes of that. Such a token counts at /mcp alone. */
  readonly grant?: number | undefined
  /** The session of the administration page, where the key acts through one. */
  readonly session?: number | undefined
  /** The remote address and id of the request, for the audit log; set where an API key changes something. */
  readonly ip?: string | undefined
  readonly request?: string | undefined
  /** Notes what its request finds and does, for the headers of the answer. Absent outside of requests. */
  readonly place?: AppPlace | undefined
}

/** Notes the app that a request is about, and its place in the app's history. */
export interface AppPlace {
  /** The app was found: what is read from now on has all events up to `head_rev`. `rev`: that of its newest activity. */
  found(app: { readonly id: number; readonly rev: number; readonly head_rev: number }): void
  /** The request has made events of the app, the last with this rev. */
  wrote(app: number, rev: number): void
  /** The request repeats an earlier one, which has made what is there. */
  repeated(): void
}

export const systemUser = 0
export const deletedUser = -1

/** The server itself, with the rights of an API key. */
export const server: Principal = { kind: 'key', user: systemUser, credential: '' }

/** The caller of an endpoint that needs no credential. */
export const unauthenticated: Principal = { kind: 'nobody', user: deletedUser, credential: '' }
