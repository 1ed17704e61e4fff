import { createHash } from 'node:crypto'
import type { IdempotencyKey } from '../../api/idempotency-key.ts'
import type { Principal } from '../../auth/principal.ts'
import { invalid } from '../../lib/errors.ts'

/** Checks an Idempotency-Key header. 422 where it is malformed. */
export function requireIdempotencyKey(key: string): void {
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return
  throw invalid({ 'Idempotency-Key': ['must have 1 to 255 printable characters'] })
}

interface Repeatable {
  key: string
  /** The caller: two callers may choose equal keys. */
  by: Principal
  method: string
  path: string
  body: string
}

/**
 * Identifies a request, to recognise its repetition, and a different request with an equal key. A user's keys outlive
 * the user's tokens: requests are repeated for a day, tokens are renewed every hour.
 */
export function toIdempotencyKey({ key, by, method, path, body }: Repeatable): IdempotencyKey {
  const caller = by.kind === 'user' ? `user ${by.user}` : by.credential
  return { key: digest(caller, key), request: digest(method, path, body), sent: key }
}

/** Adds the content of a body that the handler has read: a repetition must have equal content. */
export function withContent(key: IdempotencyKey, ...content: (string | Buffer)[]): IdempotencyKey {
  return { ...key, request: digest(key.request, ...content) }
}

/** Lengths are hashed too, so that `ab, c` differs from `a, bc`. */
function digest(...parts: (string | Buffer)[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:`).update(part)
  return hash.digest()
}
