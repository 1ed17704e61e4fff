import { unauthenticated, type Principal } from '../../auth/principal.ts'
import { requirePrincipal, Unauthorized, type Auth } from '../../auth/authentication.ts'
import { problem } from '../../lib/errors.ts'
import type { ProxyHeaders } from '../request/proxy-headers.ts'
import type { Exchange } from '../server/exchange.ts'
import { readCookie } from './cookie.ts'

export const OtherOrigin = problem(
  403,
  'other-origin',
  'Only the administration page itself may ask for this: with its Origin, or Sec-Fetch-Site: same-origin, and the header ' +
    'X-Parley-Admin: 1.',
)
export const AddressNotAllowed = problem(
  403,
  'address-not-allowed',
  'Your address is not one that administration is open to.',
)

/** Principals of cookies, as far as the door needs to know. */
export interface CookieReader {
  find(value: string): Principal | Promise<Principal | null>
}

interface DoorOptions {
  proxyHeaders: ProxyHeaders
  sessions: CookieReader
  /** Whether administration is open to an address. */
  isAllowed: (address: string) => boolean
}

/** What a request under /admin was found to be, before it is freed. */
export interface Entry {
  /** It is for the API: the path of the operation. Null: for what is under /admin itself. */
  apiPath: string | null
  /** The page came over TLS, as the browser sees it. */
  isSecure: boolean
  /** The browser's name for itself. */
  agent: string
  /** The content codings that the browser takes. */
  acceptEncoding: string
  /** Who calls, at once or after a look into the database. Refuses with 401, 403. */
  authenticate(auth: Auth): Principal | Promise<Principal>
}

const apiPrefix = '/admin/api/'
const safeMethods = new Set(['GET', 'HEAD'])

/** True for all that the door is in front of. */
export function isAdminPath(path: string): boolean {
  return path.startsWith('/admin') && (path.length === 6 || path[6] === '/')
}

/**
 * In front of everything under /admin, and nothing else: there a cookie says who calls, which browsers send along whoever
 * asks them to. So what asks must be the page itself, which its origin says, and what changes something must in addition
 * carry a header that no page of another origin can set: it would take a preflight, which is refused.
 */
export class AdminDoor {
  readonly #options: DoorOptions

  constructor(options: DoorOptions) {
    this.#options = options
  }

  /** Reads what it needs of a request. Refuses with 403 for addresses that are not allowed, and for preflights. */
  enter(exchange: Exchange): Entry {
    const { proxyHeaders, isAllowed } = this.#options
    if (!isAllowed(proxyHeaders.forwardedAddressOf(exchange) ?? exchange.address)) throw AddressNotAllowed()
    if (exchange.method === 'OPTIONS') throw OtherOrigin()
    const ownOrigin = proxyHeaders.ownOriginOf(exchange)
    const origin = exchange.header('origin')
    const site = exchange.header('sec-fetch-site')
    const isSafe = safeMethods.has(exchange.method)
    const isMarked = exchange.header('x-parley-admin') === '1'
    const isOwn = origin === ownOrigin || site === 'same-origin'
    // What a person types into the address bar has no origin; it cannot change anything, and others cannot read it.
    const isOther = !isOwn && ((origin !== '' && origin !== ownOrigin) || (site !== '' && site !== 'none'))
    const isSecure = (isOwn && origin !== '' ? origin : ownOrigin).startsWith('https:')
    const cookie = isOther ? null : readCookie(exchange.header('cookie'), isSecure)
    const { path } = exchange
    return {
      apiPath: path.startsWith(apiPrefix) ? `/api/${path.slice(apiPrefix.length)}` : null,
      isSecure,
      agent: exchange.header('user-agent').slice(0, 256),
      acceptEncoding: exchange.header('accept-encoding'),
      authenticate: auth => {
        if (!isSafe && !(isOwn && isMarked)) throw OtherOrigin()
        return this.#authenticate(auth, cookie, path)
      },
    }
  }

  #authenticate(auth: Auth, cookie: string | null, path: string): Principal | Promise<Principal> {
    // Under the API's paths everything asks for a session, also what needs no credential elsewhere.
    if (auth === 'none' && !path.startsWith(apiPrefix)) return unauthenticated
    if (cookie === null) throw Unauthorized()
    const principal = this.#options.sessions.find(cookie)
    return principal instanceof Promise
      ? principal.then(found => requirePrincipal(auth, found))
      : requirePrincipal(auth, principal)
  }
}
