import { createHmac } from 'node:crypto'

/** The length of the ids: 192 bits, which cannot be guessed. */
const idCharacters = 32

/**
 * An opaque, stable id of a person or a conversation for vendors; without the key it cannot be traced back. `kind`
 * separates persons from conversations with equal names.
 */
export function opaqueId(key: Buffer, kind: 'person' | 'conversation', name: string): string {
  return createHmac('sha256', key).update(`${kind}:${name}`).digest('base64url').slice(0, idCharacters)
}
