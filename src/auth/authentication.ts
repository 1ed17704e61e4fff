import { timingSafeEqual } from 'node:crypto'
import { unauthenticated, type Principal } from './principal.ts'
import { problem } from '../lib/errors.ts'
import { Secret } from '../lib/secret.ts'
import { hashOf, type Credentials } from './credentials.ts'

/** The auth column of the API: `token or key` A, `key` K, `token` T, `none` -. `session`: of the administration page. */
export type Auth = 'token or key' | 'key' | 'token' | 'none' | 'session'

export const Unauthorized = problem(401, 'unauthorized', 'A valid access token or API key is needed.')
export const KeyRequired = problem(403, 'key-required', 'Only an API key may do this.')
export const TokenRequired = problem(403, 'token-required', 'An API key acts for no user; use an access token.')

/** Far above the length of anything that this server gave out. */
const longestToken = 512

/**
 * Who calls, from the Authorization header: at once where the credential is known, otherwise after a look into the
 * database. Refuses with 401 what is missing or not valid, with 403 the kind of credential that the operation is not for.
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
  return principal instanceof Promise ? principal.then(found => admit(auth, found)) : admit(auth, principal)
}

function requireSecret(secret: Secret, header: string): Principal {
  // Digests have one length, and do not tell by the time it takes how much of a guess was right.
  const digest = (text: string) => Buffer.from(hashOf(text))
  if (!timingSafeEqual(digest(readBearer(header)), digest(secret.reveal()))) throw Unauthorized()
  return unauthenticated
}

function readBearer(header: string): string {
  if (header.length > longestToken || !/^bearer +\S+$/i.test(header)) throw Unauthorized()
  return header.slice(6).trim()
}

/** Refuses with 401 where there is no principal, with 403 the kind that the operation is not for. */
export function admit(auth: Auth, principal: Principal | null): Principal {
  if (principal === null) throw Unauthorized()
  if (auth === 'session' && principal.session === undefined) throw Unauthorized()
  if (auth === 'key' && principal.kind !== 'key') throw KeyRequired()
  if (auth === 'token' && principal.kind !== 'user') throw TokenRequired()
  return principal
}
