import { createHmac, timingSafeEqual } from 'node:crypto'
import { systemClock } from '../../../lib/clock.ts'

/** Links are valid for at least a day, and for at most half a day more. */
const leastMs = 24 * 3_600_000
/** Responses within this time get equal links, so that clients can cache the content. */
const roundingMs = 12 * 3_600_000

/**
 * A link under /content that needs no credential: any holder may follow it until it expires. `path` begins with a
 * slash; `secret` belongs to the link's target, so that the link becomes invalid with it, and no secret opens
 * everything.
 */
export function signLink(origin: string, path: string, secret: string, now = systemClock.now()): string {
  const expiresAt = Math.ceil((now + leastMs) / roundingMs) * (roundingMs / 1000)
  return `${origin}/content${path}?e=${expiresAt}&s=${signatureOf(`${path}?e=${expiresAt}`, secret)}`
}

/** A link that stays valid as long as its target exists. */
export function signLasting(origin: string, path: string, secret: string): string {
  return `${origin}/content${path}?s=${signatureOf(path, secret)}`
}

export interface Signature {
  /** When the link expires, in seconds since 1970. */
  e?: string | undefined
  s?: string | undefined
}

/** True for a link with a valid signature that has not expired. */
export function isSigned(path: string, { e, s }: Signature, secret: string, now: number): boolean {
  if (s === undefined || (e !== undefined && !(Number(e) * 1000 > now))) return false
  const expected = Buffer.from(signatureOf(e === undefined ? path : `${path}?e=${e}`, secret))
  const given = Buffer.from(s)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** 128 bits of an HMAC: more would only make links longer. */
function signatureOf(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url').slice(0, 22)
}
