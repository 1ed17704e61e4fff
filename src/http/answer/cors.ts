/** Pages of any origin, or of the listed ones (`https://app.example`). */
export type AllowedOrigins = 'any' | readonly string[]

/** Headers of answers that a page may read, beside those that it always may (Cache-Control, Content-Type and others). */
const exposed = [
  'Accept-Ranges',
  'Allow',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Length',
  'Content-Range',
  'ETag',
  'Idempotency-Key',
  'Location',
  'Mcp-Session-Id',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
  'X-Service-Epoch',
  'X-Service-Ignored',
  'X-Service-Rev',
].join(', ')

/** Follows the value of Access-Control-Allow-Origin. */
const withOrigin = `\r\nAccess-Control-Allow-Credentials: true\r\nAccess-Control-Expose-Headers: ${exposed}`

/**
 * Headers that a page may send: the ones that are read here, and the ones that common clients add unasked (HTTP caches,
 * event streams, tracing). With credentials, `*` would be taken literally.
 */
const requestHeaders = [
  'authorization',
  'baggage',
  'cache-control',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'pragma',
  'prefer',
  'range',
  'traceparent',
  'tracestate',
  'x-request-id',
  'x-requested-with',
  'x-service-source',
  'x-signalr-user-agent',
  'x-weavy-source',
].join(', ')

/** For requests without an allowed origin: caches must not give the answer to another origin. */
const withoutOrigin = '\r\nVary: Origin'

/** Headers of the answer to a preflight, beside those of every answer. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE',
  'Access-Control-Allow-Headers': requestHeaders,
  // The most that Chromium caches a preflight.
  'Access-Control-Max-Age': '7200',
}

/**
 * Cross-origin resource sharing. Credentials are allowed, because browsers send them with media and hub requests; that
 * gives a page nothing, because no cookie authenticates here: under /admin, where one does, this is not used.
 */
export class Cors {
  readonly #allowed: ReadonlySet<string> | null
  #lastOrigin = ''
  #lastHeaders = withoutOrigin

  constructor(origins: AllowedOrigins) {
    this.#allowed = origins === 'any' ? null : new Set(origins)
  }

  /**
   * The CORS headers of any answer to a request of this origin (empty where it has none), each as `name: value` after a
   * line end.
   */
  headersFor(origin: string): string {
    // Most requests come from the origin of the request before.
    if (origin === this.#lastOrigin) return this.#lastHeaders
    this.#lastHeaders = this.#isAllowed(origin)
      ? `${withoutOrigin}\r\nAccess-Control-Allow-Origin: ${origin}${withOrigin}`
      : withoutOrigin
    this.#lastOrigin = origin
    return this.#lastHeaders
  }

  #isAllowed(origin: string): boolean {
    return this.#allowed === null ? /^[\x21-\x7e]{1,512}$/.test(origin) : this.#allowed.has(origin)
  }
}
