import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { Cutoff } from './cutoff.ts'
import { EgressFailed } from './egress-failed.ts'
import { begin, exchange, headOf, type Answer } from './exchange.ts'
import { readAsItArrives, type OpenAnswer } from './open-answer.ts'

/** One outgoing request. */
export interface EgressRequest {
  url: string
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers: Record<string, string>
  body?: Buffer
  /** The limit of the whole: resolving, connecting, sending, all redirects, and the last byte of the answer. */
  deadlineMs: number
  /** Bytes of the answer's body to keep. A longer body is cut there, and the connection closed. */
  keepBytes: number
  /**
   * The most redirects to follow, each checked anew; only for GET and HEAD. Default 0: a redirect is returned as the
   * answer.
   */
  redirects?: number
  /** Aborts the exchange. */
  signal?: AbortSignal
}

/** A request whose answer is read while it arrives. */
export interface OpenRequest extends Omit<EgressRequest, 'keepBytes' | 'redirects'> {
  /**
   * The limit of each wait: for the head of the answer, then for each read. Time between the caller's reads does not
   * count.
   */
  idleMs: number
  /** The most bytes of the body; reading a longer one fails with the fault `size`. */
  limitBytes: number
}

/** Resolves a host name to addresses. */
export type Resolve = (host: string) => Promise<LookupAddress[]>

interface EgressOptions {
  /** Checks each address that a name resolves to; see `ipCheck`. */
  isAllowed: (address: string) => boolean
  /** Default: the system's resolver, which reads /etc/hosts. */
  resolve?: Resolve
}

/**
 * The HTTP client for all outgoing requests. Speaks http and https, verifies certificates, resolves a name once,
 * refuses it if one of its addresses is not allowed, and connects to these addresses only, so that the name cannot
 * change between check and use. Each request has its own connection: the other side may close a kept one just when it
 * is used, and whether the request arrived would be unknown. Ignores `HTTP_PROXY` and the like.
 */
export class Egress {
  readonly #isAllowed: (address: string) => boolean
  readonly #resolve: Resolve
  readonly #resolving = new Map<string, Promise<LookupAddress[]>>()

  constructor({ isAllowed, resolve = host => lookup(host, { all: true }) }: EgressOptions) {
    this.#isAllowed = isAllowed
    this.#resolve = resolve
  }

  /** Resolves with any complete answer, whatever its status. Rejects with EgressFailed. */
  async send(request: EgressRequest): Promise<Answer> {
    const cutoff = new Cutoff(request)
    try {
      return await this.#follow(request, cutoff.signal)
    } catch (cause) {
      throw cutoff.toFailure(cause)
    } finally {
      cutoff.release()
    }
  }

  /**
   * Resolves when the head of an answer has arrived, whatever its status; redirects are not followed. Rejects with
   * EgressFailed.
   */
  async open(request: OpenRequest): Promise<OpenAnswer> {
    const cutoff = new Cutoff(request)
    try {
      const url = toUrl(request.url)
      const { signal } = cutoff
      const beginning = this.#addressesOf(url, signal).then(addresses => begin(url, addresses, { ...request, signal }))
      const incoming = await cutoff.waiting(beginning)
      const { limitBytes } = request
      return { url, ...headOf(incoming), body: readAsItArrives(incoming, { cutoff, limitBytes }) }
    } catch (cause) {
      cutoff.release()
      throw cutoff.toFailure(cause)
    }
  }

  async #follow(request: EgressRequest, signal: AbortSignal): Promise<Answer> {
    const { method, redirects = 0 } = request
    let url = toUrl(request.url)
    let headers = request.headers
    for (let hop = 0; ; hop++) {
      const answer = await exchange(url, await this.#addressesOf(url, signal), { ...request, headers, signal })
      const next = redirects > 0 && (method === 'GET' || method === 'HEAD') ? redirectOf(answer) : undefined
      if (next === undefined) return answer
      if (hop === redirects) throw new EgressFailed('redirects', `More than ${redirects} redirects`)
      if (next.origin !== url.origin) headers = withoutCredentials(headers)
      url = next
    }
  }

  /** The addresses to connect to, all of them allowed. */
  async #addressesOf(url: URL, signal: AbortSignal): Promise<LookupAddress[]> {
    // The URL parser has normalised every other spelling of an IPv4 address (decimal, octal, hex, short).
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const family = isIP(host)
    const addresses = family === 0 ? await this.#lookUp(host, signal) : [{ address: host, family }]
    const refused = addresses.find(({ address }) => !this.#isAllowed(address))
    if (refused === undefined) return addresses
    throw new EgressFailed('address', `${host} is at ${refused.address}, which may not be reached`)
  }

  async #lookUp(host: string, signal: AbortSignal): Promise<LookupAddress[]> {
    signal.throwIfAborted()
    // The system's resolver blocks a thread of a small pool, so concurrent lookups of one name share one.
    const resolving = this.#resolving.get(host) ?? this.#resolve(host).finally(() => this.#resolving.delete(host))
    this.#resolving.set(host, resolving)
    const addresses = await unlessAborted(resolving, signal).catch((cause: unknown) => {
      throw new EgressFailed('name', `${host} could not be resolved`, { cause })
    })
    if (addresses.length === 0) throw new EgressFailed('name', `${host} has no address`)
    return addresses
  }
}

function toUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new EgressFailed('url', 'Only http and https URLs can be reached')
}

function redirectOf({ url, status, headers }: Answer): URL | undefined {
  const { location } = headers
  return location !== undefined && [301, 302, 303, 307, 308].includes(status) ? toUrl(location, url) : undefined
}

/** Headers for another origin: credentials, under whatever name, were meant for the first one. */
function withoutCredentials(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => /^(accept|accept-language|user-agent)$/i.test(name)),
  )
}

/** Settles like `work`, or rejects when the signal aborts; `work` itself continues. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(new Error('Stopped'))
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
