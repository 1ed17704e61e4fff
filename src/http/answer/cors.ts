/** Pages of any origin, or of those listed (`https://app.example`). */
export type AllowedOrigins = 'any' | readonly string[]

const exposed = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Length',
  'Content-Range',
  'Location',
  'Preference-Applied',
  'Retry-After',
  'X-Request-Id',
].join(', ')

/** Follows the origin in answers to a page that may read them. */
const allowed = `\r\nAccess-Control-Allow-Credentials: true\r\nAccess-Control-Expose-Headers: ${exposed}`

/** Headers that a page may send. With credentials allowed, `*` would be taken by its letter. */
const accepted = [
  'authorization',
  'content-type',
  'idempotency-key',
  'prefer',
  'range',
  'x-request-id',
  'x-requested-with',
  'x-service-source',
  'x-signalr-user-agent',
  'x-weavy-source',
].join(', ')

/** What any answer to a request without an allowed origin says: caches must not give it to another origin. */
const plain = '\r\nVary: Origin'

/** Headers of an answer to a preflight, beside those that every answer has. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE',
  'Access-Control-Allow-Headers': accepted,
  // Chromium keeps no preflight for longer than this.
  'Access-Control-Max-Age': '7200',
}

/**
 * Lets web pages of other origins call. Credentials are allowed because browsers send them with media and hub requests;
 * they give no page anything, since nothing here is authenticated by cookies: where that is so, under /admin, this is not used.
 */
export class Cors {
  readonly #allowed: ReadonlySet<string> | null
  #lastOrigin = ''
  #lastHeaders = plain

  constructor(origins: AllowedOrigins) {
    this.#allowed = origins === 'any' ? null : new Set(origins)
  }

  /**
   * For an answer of any kind to a request of this origin ('' where it has none): each `name: value` after a line end.
   */
  headersFor(origin: string): string {
    // Most requests come from the same page as the one before.
    if (origin === this.#lastOrigin) return this.#lastHeaders
    this.#lastHeaders = this.#isAllowed(origin) ? `${plain}\r\nAccess-Control-Allow-Origin: ${origin}${allowed}` : plain
    this.#lastOrigin = origin
    return this.#lastHeaders
  }

  #isAllowed(origin: string): boolean {
    return this.#allowed === null ? /^[\x21-\x7e]{1,512}$/.test(origin) : this.#allowed.has(origin)
  }
}
