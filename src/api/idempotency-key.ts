/** What tells a request that must not be done twice from others: hashes of its caller's key and of the whole request. */
export interface IdempotencyKey {
  key: Buffer
  request: Buffer
}
