import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Secret } from './secret.ts'

/** AES-GCM with a random nonce of 96 bits and a tag of 128 (NIST SP 800-38D). */
const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

const sealedForm = /^v1\.([\w-]{8})\.([\w-]{16})\.([\w-]{22,})$/

/** True for 32 bytes in base64. */
export function isKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(text)
}

interface Key {
  id: string
  bytes: Buffer
}

/** A stored value was sealed with a key that is not configured, was changed, or belongs to another place. */
export class CannotOpen extends Error {}

/**
 * Encrypts secrets before they are stored, as `v1.<key id>.<nonce>.<text>` by AES-256-GCM. The place is authenticated
 * too: a value copied to another row cannot be opened there. The first key seals, all keys open. Without keys values
 * are stored as they are.
 */
export class Vault {
  readonly #keys: Key[]

  /** `keys`: 32 bytes each, in base64. */
  constructor(keys: readonly Secret[]) {
    this.#keys = keys.map(key => {
      const bytes = Buffer.from(key.reveal(), 'base64')
      return { id: createHash('sha256').update(bytes).digest('base64url').slice(0, 8), bytes }
    })
  }

  /** True where values are sealed. */
  get isLocked(): boolean {
    return this.#keys.length > 0
  }

  /** `place`: table, column and row, as in `webhooks:secret:7`. */
  seal(value: string, place: string): string {
    const [key] = this.#keys
    if (key === undefined) return value
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, key.bytes, nonce).setAAD(Buffer.from(place))
    const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return ['v1', key.id, nonce.toString('base64url'), text.toString('base64url')].join('.')
  }

  /** Returns the value that was stored at the place, sealed or not. Throws CannotOpen. */
  open(stored: string, place: string): string {
    const [, id, nonce = '', text = ''] = sealedForm.exec(stored) ?? []
    if (id === undefined) return stored
    const key = this.#keys.find(one => one.id === id)
    if (key === undefined) throw new CannotOpen(`SECRET_KEYS lacks the key ${id}, which ${place} was sealed with`)
    const bytes = Buffer.from(text, 'base64url')
    const decipher = createDecipheriv(algorithm, key.bytes, Buffer.from(nonce, 'base64url'))
    decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-tagBytes))
    try {
      return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString()
    } catch (cause) {
      throw new CannotOpen(`${place} was changed, or belongs elsewhere`, { cause })
    }
  }

  /** True where a key has this id, which sealed values name. */
  has(id: string): boolean {
    return this.#keys.some(key => key.id === id)
  }

  /** The id of the key that seals, which sealed values name; null without keys. */
  get sealsWith(): string | null {
    return this.#keys[0]?.id ?? null
  }

  /** The prefix of all values that are sealed now; empty without keys. */
  get prefix(): string {
    const [key] = this.#keys
    return key === undefined ? '' : `v1.${key.id}.`
  }
}
