import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Sql } from '../../postgres/sql.ts'
import { findClientSecret } from '../../resources/tokens/grants/store.ts'

/** A program that asks users to let it act in their names. */
export interface Client {
  id: string
  /** What it calls itself, in visible characters. */
  name: string
  redirectUris: string[]
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Where answers may be sent: https, or a program on the user's computer. Never a fragment, or a name and password. */
export const RedirectUri = z
  .string()
  .max(512)
  .refine(text => {
    const url = URL.canParse(text) ? new URL(text) : null
    const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback.has(url.hostname))
    return isSafe && !text.includes('#') && url!.username === '' && url!.password === ''
  }, 'must be https, or http on localhost, without a fragment')

export const RedirectUris = z.array(RedirectUri).min(1).max(10)

const nameLimit = 80

/** What a client calls itself, without what hides, or turns the direction of, other text. */
export const ClientName = z.string().transform(
  text =>
    text
      .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
      .trim()
      .slice(0, nameLimit)
      .toWellFormed() || 'A client',
)

const Signed = z.tuple([z.string(), z.string()]).rest(z.string())

/**
 * Ids of clients, which say all that is known of them, and are signed: registering takes no room, so that strangers cannot fill
 * a table, and any node knows a client that another one has registered.
 */
export class Clients {
  readonly #sql: Sql
  #secret: Promise<string> | null = null

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** A new client; the same one again has another id. */
  async register(name: string, redirectUris: string[]): Promise<Client> {
    const said = Buffer.from(JSON.stringify([randomBytes(6).toString('base64url'), name, ...redirectUris]))
    const text = said.toString('base64url')
    return { id: `${text}.${(await this.#sign(text)).toString('base64url')}`, name, redirectUris }
  }

  /** Null where no such client was registered here. */
  async find(id: string): Promise<Client | null> {
    const [text = '', signature = ''] = id.split('.', 2)
    const [given, own] = [Buffer.from(signature, 'base64url'), await this.#sign(text)]
    if (given.length !== own.length || !timingSafeEqual(given, own)) return null
    const [, name, ...redirectUris] = Signed.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
    return { id, name, redirectUris }
  }

  async #sign(text: string): Promise<Buffer> {
    this.#secret ??= findClientSecret(this.#sql).catch((error: unknown) => {
      this.#secret = null
      throw error
    })
    return createHmac('sha256', await this.#secret)
      .update(text)
      .digest()
      .subarray(0, 18)
  }
}

/** True where the client has registered this address. The port of the user's computer may be another one (RFC 8252, 7.3). */
export function isRegistered(asked: string, { redirectUris }: Client): boolean {
  return (
    redirectUris.includes(asked) ||
    (isLoopback(asked) && redirectUris.some(one => isLoopback(one) && portless(one) === portless(asked)))
  )
}

/** True for an address of a program on the user's computer. */
export function isLoopback(uri: string): boolean {
  return RedirectUri.safeParse(uri).success && uri.startsWith('http:')
}

function portless(uri: string): string {
  const url = new URL(uri)
  url.port = ''
  return url.href
}
