/** A new Idempotency-Key. Pages without HTTPS and React Native have no `crypto.randomUUID`. */
export function newKey(): string {
  const { crypto } = globalThis as { crypto?: { randomUUID?: () => string } }
  return crypto?.randomUUID?.() ?? Array.from({ length: 3 }, () => Math.random().toString(36).slice(2)).join('-')
}
