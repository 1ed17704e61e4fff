import { ParleyError, toParleyError } from './error.ts'

/** A token, or what returns one; with `isRefused` a new one, because the server did not take the last one. */
export type TokenSource = string | ((isRefused: boolean) => string | Promise<string>)

/** How long before its end a token is renewed; of a short-lived one, half of its life. */
const renewalMs = 60_000

/** The token of a client. HTTP and the connection share it, and there is one request for a new one at a time. */
export class Token {
  readonly #source: TokenSource
  #value: string | undefined
  #request: Promise<string> | undefined
  /** When it is to be renewed, on the clock of `performance.now`, and on that of the wall, which goes on in sleep. */
  #endsAt: { monotonic: number; wall: number } | undefined

  constructor(source: TokenSource) {
    this.#source = source
  }

  /** The token; a new one where `refused`, which the server did not take, is still the last, or where it is about to end. */
  async get(refused?: string): Promise<string> {
    if (this.#request !== undefined) return this.#request
    const isRefused = refused !== undefined && refused === this.#value
    if (this.#value !== undefined && !isRefused && !this.#isDue()) return this.#value
    this.#request = this.#ask(isRefused || this.#value !== undefined).finally(() => (this.#request = undefined))
    return this.#request
  }

  /** Tells when the token ends, and returns in how many milliseconds it is to be renewed. */
  expireIn(leftMs: number): number {
    const afterMs = Math.max(leftMs - renewalMs, leftMs / 2)
    this.#endsAt = { monotonic: performance.now() + afterMs, wall: Date.now() + afterMs }
    return afterMs
  }

  #isDue(): boolean {
    const end = this.#endsAt
    const isTold = end !== undefined && (performance.now() >= end.monotonic || Date.now() >= end.wall)
    return isTold && typeof this.#source === 'function'
  }

  async #ask(isRefused: boolean): Promise<string> {
    const source = this.#source
    if (typeof source === 'string') {
      if (isRefused)
        throw new ParleyError('The server does not take this token.', { status: 401, code: 'unauthorized' })
      return (this.#value = source)
    }
    try {
      const token = await source(isRefused)
      if (typeof token !== 'string' || token === '') throw new TypeError('token() returned no text')
      this.#endsAt = undefined
      return (this.#value = token)
    } catch (error) {
      throw toParleyError(error, 'token')
    }
  }
}
