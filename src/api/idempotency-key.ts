/**
 * Identifies a request that must not be done twice: hashes of its Idempotency-Key with the caller, and of the whole
 * request.
 */
export interface IdempotencyKey {
  key: Buffer
  request: Buffer
}
