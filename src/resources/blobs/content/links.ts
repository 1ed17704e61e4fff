import { createHmac, timingSafeEqual } from 'node:crypto'
import { systemClock } from '../../../lib/clock.ts'

/** Links are valid for a day at least, and for half a day more at most. */
const leastMs = 24 * 3_600_000
/** So long do successive answers have the same link, so that clients keep what they have loaded. */
const roundingMs = 12 * 3_600_000

/**
 * A link under /content that needs no credential: whoever has it may follow it until it expires. `path` begins with a
 * slash; `secret` belongs to what it leads to, so that a link dies with that, and no secret opens everything.
 */
export function signLink(origin: string, path: string, secret: string, now = systemClock.now()): string {
  const expiresAt = Math.ceil((now + leastMs) / roundingMs) * (roundingMs / 1000)
  return `${origin}/content${path}?e=${expiresAt}&s=${signatureOf(`${path}?e=${expiresAt}`, secret)}`
}

/** A link that stays valid for as long as what it leads to exists. */
export function signLasting(origin: string, path: string, secret: string): string {
  return `${origin}/content${path}?s=${signatureOf(path, secret)}`
}

export interface Signature {
  /** When the link expires, in seconds. */
  e?: string | undefined
  s?: string | undefined
}

/** True for a link that was made here and has not expired. */
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
