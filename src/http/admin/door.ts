import { unauthenticated, type Principal } from '../../auth/principal.ts'
import { requirePrincipal, Unauthorized, type Auth } from '../../auth/authentication.ts'
import { problem } from '../../lib/errors.ts'
import type { ProxyHeaders } from '../request/head.ts'
import type { Exchange } from '../server/exchange.ts'
import { readCookie } from './cookie.ts'

export const OtherOrigin = problem(
  403,
  'other-origin',
  'Only the administration page itself may ask for this: with its Origin, or Sec-Fetch-Site: same-origin, and the header ' +
    'X-Parley-Admin: 1.',
)
const SignedOut = problem(
  401,
  Unauthorized.code,
  'There is no valid session of the administration page. Sign in there; programs send an API key to /api instead.',
)
export const AddressNotAllowed = problem(
  403,
  'address-not-allowed',
  'Your address is not one that administration is open to.',
)

/** Finds the principals of session cookies. */
export interface CookieReader {
  find(value: string): Principal | Promise<Principal | null>
}

interface DoorOptions {
  proxyHeaders: ProxyHeaders
  sessions: CookieReader
  /** True where the address may reach the administration. */
  isAllowed: (address: string) => boolean
}

/** Facts about a request under /admin, read before it is freed. */
export interface Entry {
  /** The path of an API operation; null for a request to the administration page itself. */
  apiPath: string | null
  /** True where the browser loaded the page over TLS. */
  isSecure: boolean
  /** The User-Agent header. */
  agent: string
  /** The Accept-Encoding header. */
  acceptEncoding: string
  /** The value of the browser's session cookie, whether its session has ended or not; null without one. */
  cookie: string | null
  /** The caller, synchronously or after a query. Refuses with 401 or 403. */
  authenticate(auth: Auth): Principal | Promise<Principal>
}

const apiPrefix = '/admin/api/'
const safeMethods = new Set(['GET', 'HEAD'])

/**
 * Guards everything under /admin, where a cookie authenticates, which browsers attach to requests of any page. So the
 * request must come from the page itself, by its origin, and one that changes something must also have a header that
 * pages of other origins cannot set: it would take a preflight, which is refused. The returned function reads the facts
 * of a request: 403 for addresses that are not allowed, and for preflights.
 */
export function guardAdmin({ proxyHeaders, sessions, isAllowed }: DoorOptions): (exchange: Exchange) => Entry {
  const authenticate = (auth: Auth, cookie: string | null, path: string) => {
    // Under the API's paths every operation needs a session, even where it needs no credential elsewhere.
    if (auth === 'none' && !path.startsWith(apiPrefix)) return unauthenticated
    if (cookie === null) throw SignedOut()
    const principal = sessions.find(cookie)
    const require = (found: Principal | null) => {
      if (found === null) throw SignedOut()
      return requirePrincipal(auth, found)
    }
    return principal instanceof Promise ? principal.then(require) : require(principal)
  }
  return exchange => {
    if (!isAllowed(proxyHeaders.forwardedAddressOf(exchange) ?? exchange.address)) throw AddressNotAllowed()
    if (exchange.method === 'OPTIONS') throw OtherOrigin()
    const ownOrigin = proxyHeaders.ownOriginOf(exchange)
    const origin = exchange.header('origin')
    const site = exchange.header('sec-fetch-site')
    const isSafe = safeMethods.has(exchange.method)
    const isMarked = exchange.header('x-parley-admin') === '1'
    const isOwn = origin === ownOrigin || site === 'same-origin'
    // An address typed by a user comes without an origin; it changes nothing, and other pages cannot read it.
    const isOther = !isOwn && ((origin !== '' && origin !== ownOrigin) || (site !== '' && site !== 'none'))
    const isSecure = (isOwn && origin !== '' ? origin : ownOrigin).startsWith('https:')
    const cookie = isOther ? null : readCookie(exchange.header('cookie'), isSecure)
    const { path } = exchange
    return {
      apiPath: path.startsWith(apiPrefix) ? `/api/${path.slice(apiPrefix.length)}` : null,
      isSecure,
      agent: exchange.header('user-agent').slice(0, 256),
      acceptEncoding: exchange.header('accept-encoding'),
      cookie,
      authenticate: auth => {
        if (!isSafe && !(isOwn && isMarked)) throw OtherOrigin()
        return authenticate(auth, cookie, path)
      },
    }
  }
}
