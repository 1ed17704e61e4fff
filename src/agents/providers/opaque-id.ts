import { createHmac } from 'node:crypto'

/** Characters that vendors are given for a person or a conversation: 192 bits, as nobody's are to be guessed. */
const idCharacters = 32

/**
 * What vendors call a person or a conversation: always the same for the same, and without the key nobody can tell
 * whose it is. `kind` keeps persons and conversations apart that happen to have one name.
 */
export function opaqueId(key: Buffer, kind: 'person' | 'conversation', name: string): string {
  return createHmac('sha256', key).update(`${kind}:${name}`).digest('base64url').slice(0, idCharacters)
}
