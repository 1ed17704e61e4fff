import { createHash } from 'node:crypto'
import type { IdempotencyKey } from '../../api/idempotency-key.ts'
import type { Principal } from '../../auth/principal.ts'
import { invalid } from '../../lib/errors.ts'

/** Checks an Idempotency-Key header. Throws 422. */
export function requireKey(key: string): void {
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return
  throw invalid({ 'Idempotency-Key': ['must have 1 to 255 printable characters'] })
}

interface Repeatable {
  key: string
  /** Two callers may choose the same key. */
  by: Principal
  method: string
  path: string
  body: string
}

/**
 * What tells a repeated request from a new one, and from another one under the same key. A user's keys outlive the
 * user's tokens: requests are repeated for a day, tokens are renewed every hour.
 */
export function toOnceKey({ key, by, method, path, body }: Repeatable): IdempotencyKey {
  const caller = by.kind === 'user' ? `user ${by.user}` : by.credential
  return { key: digest(caller, key), request: digest(method, path, body) }
}

/** The key of a request whose body was read by its handler: only the same content is the same request. */
export function withContent({ key, request }: IdempotencyKey, ...content: (string | Buffer)[]): IdempotencyKey {
  return { key, request: digest(request, ...content) }
}

/** The lengths keep `ab, c` from being the same as `a, bc`. */
function digest(...parts: (string | Buffer)[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:`).update(part)
  return hash.digest()
}
