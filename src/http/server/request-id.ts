import { randomBytes } from 'node:crypto'

/** What a proxy may name a request by: it goes into logs, headers and JSON as it is. */
const accepted = /^[\w.:+/=@-]{1,128}$/

/** Names requests: by the name that a proxy has given them (X-Request-Id), or by one that no other request has. */
export class RequestIds {
  /** Of this process. Random parts for each request would take a microsecond of each. */
  readonly #prefix = randomBytes(6).toString('base64url')
  #count = 0

  /** `given`: the header, empty where there is none; what cannot be believed is replaced. */
  of(given: string): string {
    return given !== '' && accepted.test(given) ? given : `${this.#prefix}-${(++this.#count).toString(36)}`
  }
}
