import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Secret } from './secret.ts'

/** As AES-GCM has it (NIST SP 800-38D): a random nonce of 96 bits, and a tag of 128. */
const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

const sealedForm = /^v1\.([\w-]{8})\.([\w-]{16})\.([\w-]{22,})$/

interface Key {
  id: string
  bytes: Buffer
}

/** A stored value was sealed with a key that is not at hand, was changed, or belongs elsewhere. */
export class CannotOpen extends Error {}

/**
 * Keeps secrets unreadable in the database and its dumps: sealed as `v1.<key id>.<nonce>.<text>`, by AES-256-GCM, bound
 * to the place where they are stored, so that one that is copied to another row is worth nothing there. The first key
 * seals, all keys open. Without keys values stay as they are.
 */
export class Vault {
  readonly #keys: Key[]

  /** Each of 32 bytes in base64. */
  constructor(keys: readonly Secret[]) {
    this.#keys = keys.map(key => {
      const bytes = Buffer.from(key.reveal(), 'base64')
      return { id: createHash('sha256').update(bytes).digest('base64url').slice(0, 8), bytes }
    })
  }

  /** Values are sealed. */
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

  /** The value that was stored at the place, sealed or not. Throws CannotOpen. */
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

  /** There is a key of this name, by which sealed values tell their key. */
  has(id: string): boolean {
    return this.#keys.some(key => key.id === id)
  }

  /** What begins every value that is sealed now; nothing where there are no keys. */
  get prefix(): string {
    const [key] = this.#keys
    return key === undefined ? '' : `v1.${key.id}.`
  }
}
