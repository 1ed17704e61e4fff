import { timingSafeEqual } from 'node:crypto'
import { challenge, invalidToken } from './challenge.ts'
import { isHostToken } from './host-tokens/host-tokens.ts'
import { unauthenticated, type Principal } from './principal.ts'
import { Problem, problem } from '../lib/errors.ts'
import { Secret } from '../lib/secret.ts'
import { hashOf, type Credentials } from './credentials.ts'

/**
 * The auth column of the API's tables: `token or key` A, `key` K, `token` T, `none` -. `session`: of the administration
 * page.
 */
export type Auth = 'token or key' | 'key' | 'token' | 'none' | 'session'

export const Unauthorized = problem(401, 'unauthorized', 'A valid access token or API key is needed.')

/** What each kind of operation is to be called with, in words. */
const wanted: Record<Auth | 'secret', string> = {
  'token or key': 'an access token (wyu_…) or an API key (wys_…)',
  key: 'an API key (wys_…)',
  token: 'an access token (wyu_…)',
  none: 'no credential',
  session: 'the session of the administration page',
  secret: 'the token that the operator of this server has set',
}

/**
 * A 401 that says what is wrong with what was sent and what is to be sent, with the challenge of RFC 6750, section 3. Of
 * a credential it says no more than its form: whether one is unknown, has expired or was revoked is not told.
 */
function unauthorized(auth: Auth | Secret, header: string): Problem {
  const { status, code } = Unauthorized
  const what = wanted[typeof auth === 'string' ? auth : 'secret']
  const form = `"Authorization: Bearer <token>", with ${what}`
  if (header === '') return new Problem(status, code, `No credential was sent. Send the header ${form}.`, { challenge })
  const token = bearerOf(header)
  const detail =
    token === undefined
      ? `The header Authorization has not the form ${form}.`
      : typeof auth === 'string' && !/^wy[us]_/.test(token)
        ? `The token in Authorization is none of this server's. ${isHostToken(token) ? hostless : ''}Send ${what}.`
        : `The credential is not valid: it is unknown, has expired, or was revoked. Send ${what}.`
  return new Problem(status, code, detail, { challenge: invalidToken })
}
export const KeyRequired = problem(403, 'key-required', 'Only an API key may do this.')
export const TokenRequired = problem(403, 'token-required', 'An API key acts for no user; use an access token.')

/** A token of a host reaches this point only where none are accepted. */
const hostless = 'Tokens of a host are accepted where AUTH_JWKS_URL, AUTH_SECRET or AUTH_PUBLIC_KEY is set. '

/** Far above the length of any credential that this server issues; tokens of hosts may list what their user may do. */
export const tokenLimit = 8 * 1024

/**
 * The principal of a request, by its Authorization header (RFC 6750): synchronously where the credential is known to
 * this node, otherwise after a query. 401 where the credential is missing or not valid, 403 where the operation is not
 * for its kind. `addressOf` gives the client's address, by which failures are limited. `takesGrants`: tokens that users
 * have let clients have are accepted.
 */
export function authenticate(
  auth: Auth | Secret,
  header: string,
  credentials: Credentials,
  addressOf: () => string,
  takesGrants = false,
): Principal | Promise<Principal> {
  if (auth === 'none') return unauthenticated
  if (auth instanceof Secret) return requireSecret(auth, header)
  const token = bearerOf(header)
  if (token === undefined) throw unauthorized(auth, header)
  const principal = credentials.authenticate(token, addressOf)
  const require = (found: Principal | null) => {
    if (found === null || (found.grant !== undefined && !takesGrants)) throw unauthorized(auth, header)
    return requirePrincipal(auth, found)
  }
  return principal instanceof Promise ? principal.then(require) : require(principal)
}

function requireSecret(secret: Secret, header: string): Principal {
  // Digests have equal lengths, and comparing them takes equal time however much of a guess is right.
  const digest = (text: string) => Buffer.from(hashOf(text))
  const token = bearerOf(header)
  if (token === undefined || !timingSafeEqual(digest(token), digest(secret.reveal())))
    throw unauthorized(secret, header)
  return unauthenticated
}

function bearerOf(header: string): string | undefined {
  if (header.length > tokenLimit) return undefined
  // How nearly all clients write it. A regular expression over a token of a thousand characters takes longer than all the rest.
  const token = header.startsWith('Bearer ') ? header.slice(7) : (/^bearer +(.*)$/i.exec(header)?.[1] ?? '')
  const bare = token.startsWith(' ') ? token.trimStart() : token
  return bare === '' || bare.includes(' ') || bare.includes('\t') ? undefined : bare
}

/** 403 where the operation is not for this kind of credential; 401 where it is for sessions alone. */
export function requirePrincipal(auth: Auth, principal: Principal): Principal {
  if (auth === 'session' && principal.session === undefined) throw Unauthorized()
  if (auth === 'key' && principal.kind !== 'key') throw KeyRequired()
  if (auth === 'token' && principal.kind !== 'user') throw TokenRequired()
  return principal
}
