import { timingSafeEqual } from 'node:crypto'
import { unauthenticated, type Principal } from './principal.ts'
import { problem } from '../lib/errors.ts'
import { Secret } from '../lib/secret.ts'
import { hashOf, type Credentials } from './credentials.ts'

/**
 * The auth column of the API's tables: `token or key` A, `key` K, `token` T, `none` -. `session`: of the administration
 * page.
 */
export type Auth = 'token or key' | 'key' | 'token' | 'none' | 'session'

export const Unauthorized = problem(401, 'unauthorized', 'A valid access token or API key is needed.')
export const KeyRequired = problem(403, 'key-required', 'Only an API key may do this.')
export const TokenRequired = problem(403, 'token-required', 'An API key acts for no user; use an access token.')

/** Far above the length of any credential that this server issues. */
const tokenLimit = 512

/**
 * The principal of a request, by its Authorization header (RFC 6750): synchronously where the credential is known to
 * this node, otherwise after a query. 401 where the credential is missing or not valid, 403 where the operation is not
 * for its kind.
 */
export function authenticate(
  auth: Auth | Secret,
  header: string,
  credentials: Credentials,
): Principal | Promise<Principal> {
  if (auth === 'none') return unauthenticated
  if (auth instanceof Secret) return requireSecret(auth, header)
  const token = readBearer(header)
  const principal = credentials.authenticate(token)
  return principal instanceof Promise
    ? principal.then(found => requirePrincipal(auth, found))
    : requirePrincipal(auth, principal)
}

function requireSecret(secret: Secret, header: string): Principal {
  // Digests have equal lengths, and comparing them takes equal time however much of a guess is right.
  const digest = (text: string) => Buffer.from(hashOf(text))
  if (!timingSafeEqual(digest(readBearer(header)), digest(secret.reveal()))) throw Unauthorized()
  return unauthenticated
}

function readBearer(header: string): string {
  if (header.length > tokenLimit || !/^bearer +\S+$/i.test(header)) throw Unauthorized()
  return header.slice(6).trim()
}

/** 401 where there is no principal, 403 where the operation is not for its kind of credential. */
export function requirePrincipal(auth: Auth, principal: Principal | null): Principal {
  if (principal === null) throw Unauthorized()
  if (auth === 'session' && principal.session === undefined) throw Unauthorized()
  if (auth === 'key' && principal.kind !== 'key') throw KeyRequired()
  if (auth === 'token' && principal.kind !== 'user') throw TokenRequired()
  return principal
}
