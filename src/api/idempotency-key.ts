/**
 * Identifies a request that must not be done twice: hashes of its Idempotency-Key with the caller, and of the whole
 * request.
 */
export interface IdempotencyKey {
  key: Buffer
  request: Buffer
  /** The key as the client sent it; absent where this server has made it for a request of its own. */
  sent?: string
}
