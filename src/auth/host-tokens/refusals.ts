import { invalidToken } from '../challenge.ts'
import { problem, Problem } from '../../lib/errors.ts'

/** Why a token of the host is refused: the `code` of the 401 and its detail. What the token contains is not repeated. */
const faults = {
  'token-malformed': 'The token has the form of a JWT, but cannot be read as one.',
  'token-algorithm':
    'The token is signed with an algorithm that does not fit the key: RS, PS, ES or Ed algorithms for public keys, HS for AUTH_SECRET.',
  'token-key-unknown': 'No key of the host is the one that the token was signed with: its kid is not in the key set.',
  'token-signature': 'The signature of the token is wrong.',
  'token-expired': 'The token has expired. Get a new one from the host.',
  'token-not-yet-valid': 'The token is not valid yet: its nbf or iat is more than a minute ahead of this server.',
  'token-issuer': 'The token is from another issuer: its iss is not AUTH_ISSUER.',
  'token-audience': 'The token is for another audience: its aud does not contain AUTH_AUDIENCE.',
  'token-claims': 'A claim of the token is missing or has another form than it must have.',
  'token-lifetime': 'The token is valid for longer than AUTH_MAX_HOURS.',
  'token-uid': 'The token names no user: the claim for the uid is missing, or is no uid.',
  'token-revoked': 'The tokens of this user were revoked after the token was issued. Get a new one from the host.',
  'user-unknown': 'There is no user with the uid of the token, and AUTH_CREATE is not set.',
  'user-trashed': 'The user of the token is in the trash.',
  'user-agent': 'The uid of the token belongs to an agent, which acts with access tokens alone.',
} as const
export type HostTokenFault = keyof typeof faults

export function refused(fault: HostTokenFault, detail: string = faults[fault]): Problem {
  return new Problem(401, fault, detail, { challenge: invalidToken })
}

export const HostKeysUnavailable = problem(
  503,
  'host-keys-unavailable',
  'The keys of the host could not be read yet, so its tokens cannot be checked. Try again in a moment.',
  { retry_after: 5 },
)
