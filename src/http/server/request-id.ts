import { randomBytes } from 'node:crypto'

/** The ids that a proxy may set: they go into logs, headers and JSON unescaped. */
const accepted = /^[\w.:+/=@-]{1,128}$/

/** Gives requests ids: the one that a proxy has set (X-Request-Id), or a unique one. */
export class RequestIds {
  /** The part of this process. Random parts for each request would cost a microsecond each. */
  readonly #prefix = randomBytes(6).toString('base64url')
  #count = 0

  /** `given`: the header, empty if absent; a malformed one is replaced. */
  of(given: string): string {
    return given !== '' && accepted.test(given) ? given : `${this.#prefix}-${(++this.#count).toString(36)}`
  }
}
