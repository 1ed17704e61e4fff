/** The headers of a request; an absent one is empty. */
interface Headers {
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
    // The proxy appends the address that it sees; the client may have written everything before.
    return request.header('x-forwarded-for').split(',').at(-1)?.trim() || undefined
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
