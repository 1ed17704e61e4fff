import { randomFillSync } from 'node:crypto'
import { problem } from '../../lib/errors.ts'

/** The headers of a request; an absent one is empty. */
interface Headers extends HeaderLines {
  header(name: string): string
}

interface ProxyHeadersOptions {
  /** The public origin of this server, if it is configured. */
  publicUrl: string | null
  scheme: 'http' | 'https'
  /** True where a proxy in front of this server sets X-Forwarded-For, -Proto and -Host. */
  isProxied: boolean
}

/**
 * A host name, IPv4 or bracketed IPv6 address, with an optional port: no character that could end a URL's authority.
 */
const hostForm = /^(?:[a-z0-9_][a-z0-9._-]{0,252}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

/** Finds the origin under which a client reaches this server, and the client's address, also behind a proxy. */
export class ProxyHeaders {
  readonly #options: ProxyHeadersOptions
  /** The origin for requests with an unusable Host header. */
  fallback: string
  #lastHost = ''
  #lastOrigin = ''

  constructor(options: ProxyHeadersOptions) {
    this.#options = options
    this.fallback = `${options.scheme}://localhost`
  }

  /** `https://chat.example`, without a slash at the end. */
  originOf(request: Headers): string {
    const { publicUrl, isProxied, scheme } = this.#options
    if (publicUrl !== null) return publicUrl
    if (isProxied) return this.#toOrigin(forwardedScheme(request) ?? scheme, forwardedHost(request))
    const host = request.header('host')
    // Nearly all requests name one host.
    if (host === this.#lastHost) return this.#lastOrigin
    this.#lastOrigin = this.#toOrigin(scheme, host)
    this.#lastHost = host
    return this.#lastOrigin
  }

  /**
   * The origin of a page that this server delivers in answer to the request: that of PUBLIC_URL where the request came to
   * its host, otherwise the origin that the request names.
   */
  ownOriginOf(request: Headers): string {
    const { publicUrl, isProxied, scheme } = this.#options
    const host = isProxied ? forwardedHost(request) : request.header('host')
    const known = publicUrl === null ? null : new URL(publicUrl)
    if (known?.host === host) return known.origin
    return this.#toOrigin((isProxied ? forwardedScheme(request) : undefined) ?? scheme, host)
  }

  /** The client's address as the proxy reported it; undefined without a proxy: then the connection has it. */
  forwardedAddressOf(request: Headers): string | undefined {
    if (!this.#options.isProxied) return undefined
    // The proxy appends the address that it sees, maybe in a line of its own; the client may have written everything before.
    let line = ''
    request.forEach((name, value) => {
      if (name === 'x-forwarded-for') line = value
    })
    return line.split(',').at(-1)?.trim() || undefined
  }

  #toOrigin(scheme: string, host: string): string {
    return hostForm.test(host) ? `${scheme}://${host}` : this.fallback
  }
}

function forwardedHost(request: Headers): string {
  return request.header('x-forwarded-host').split(',').at(-1)?.trim() || request.header('host')
}

function forwardedScheme(request: Headers): string | undefined {
  return /^(https?)$/i.exec(request.header('x-forwarded-proto').split(',').at(-1)?.trim() ?? '')?.[1]?.toLowerCase()
}

export const AmbiguousRequest = problem(
  400,
  'ambiguous-request',
  'The headers do not say clearly where the request ends, or which host it is for.',
)

/**
 * The value of a Host header (RFC 9110, section 7.2): a registered name of RFC 3986, not empty as for http and https, or
 * an address in brackets, with an optional port. More than `hostForm`, which makes URLs.
 */
const validHost = /^(?:(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})+|\[[0-9a-f:.]+\])(?::\d*)?$/i

/** A request whose headers can be visited: names in lower case, a repeated header once per line. */
interface HeaderLines {
  forEach(visit: (name: string, value: string) => void): void
}

/**
 * False where a proxy and this server might read the request differently, because they take the end of its body, or its
 * host, from different lines (RFC 9112, sections 3.2, 6.1 and 6.3): two `Host` or one that is no host, two
 * `Content-Length` or an empty one, or a `Transfer-Encoding` other than a single `chunked`. uWebSockets.js itself refuses
 * requests without `Host` (400), HTTP/1.0 (505), lengths that are no number, and both headers together.
 */
export function isClearlyFramed(request: HeaderLines): boolean {
  let hosts = 0
  let lengths = 0
  let encodings = 0
  let isKnown = true
  request.forEach((name, value) => {
    if (name === 'host') {
      hosts++
      isKnown &&= validHost.test(value)
    } else if (name === 'content-length') {
      lengths++
      isKnown &&= value !== ''
    } else if (name === 'transfer-encoding') {
      encodings++
      isKnown &&= value.toLowerCase() === 'chunked'
    }
  })
  return isKnown && hosts <= 1 && lengths <= 1 && encodings <= 1
}

/** The ids that a proxy may set: they go into logs, headers and JSON unescaped. */
const accepted = /^[\w.:+/=@-]{1,128}$/

const idBytes = 16

/**
 * Gives requests ids: the one that a proxy has set (X-Request-Id), or 128 random bits. A number would tell each caller how
 * many requests there were between two of its own.
 */
export class RequestIds {
  /** Filled for 256 ids at once: random bytes for one id alone cost 5 µs, of the pool 0.1 µs. */
  readonly #pool = Buffer.alloc(256 * idBytes)
  #used = this.#pool.length

  /** `given`: the header, empty if absent; a malformed one is replaced. */
  of(given: string): string {
    if (given !== '' && accepted.test(given)) return given
    if (this.#used === this.#pool.length) {
      randomFillSync(this.#pool)
      this.#used = 0
    }
    this.#used += idBytes
    return this.#pool.toString('base64url', this.#used - idBytes, this.#used)
  }
}
