import { decodeProtectedHeader, errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose'
import type { Problem } from '../../lib/errors.ts'
import type { LoginThrottle } from '../login-throttle.ts'
import type { HostKey, HostKeys } from './keys.ts'
import { refused, type HostTokenFault } from './refusals.ts'

export interface HostTokenSettings {
  /** What `iss` must be; null: anything. */
  issuer: string | null
  /** What `aud` must contain; null: anything. */
  audience: string | null
  /** The longest lifetime of a token. */
  maxSeconds: number
}

/** The user of a token. */
export interface HostAccount {
  user: number
  /** Tokens that were issued before are refused; null: none. */
  tokensRevokedAt: Date | null
}

interface HostTokensOptions {
  keys: HostKeys
  /** The user that claims name, which were issued at a time, made or changed as they say. Rejects with a refusal. */
  findAccount: (claims: JWTPayload, issuedAt: Date) => Promise<HostAccount>
  loginThrottle: LoginThrottle
  settings: HostTokenSettings
  now: () => Date
}

/** A token of the host that is valid. Times in milliseconds since 1970. */
export interface HostToken {
  kind: 'user'
  user: number
  /** The id of the key that it is signed with. */
  signedBy: string
  /** Its `exp`. */
  endsAt: number
  /** Until when it is accepted: clocks differ. */
  expiresAt: number
}

/** How far the clocks of the host and of this server may be apart. */
const skewSeconds = 60

/** True for what has the form of a JWT and not of a credential of this server. */
export function isHostToken(token: string): boolean {
  return token.startsWith('eyJ') && token.includes('.')
}

/**
 * Verifies tokens of the host: JWTs (RFC 7519) that the system which users are signed in to has issued. It keeps nothing
 * itself; `Credentials` keeps what was found.
 */
export class HostTokens {
  readonly #options: HostTokensOptions

  constructor(options: HostTokensOptions) {
    this.#options = options
  }

  /** See HostKeys. */
  onKeysGone(listener: (ids: ReadonlySet<string>) => void): void {
    this.#options.keys.onGone(listener)
  }

  /**
   * Rejects with a 401 that says what is wrong with the token. `address` is the client's: after ten wrong signatures within
   * a minute, it is refused with 429, as after so many wrong passwords.
   */
  async verify(token: string, address: string): Promise<HostToken> {
    const { findAccount, now } = this.#options
    const { payload, key } = await this.#verifySignature(token, `address ${address}`)
    const exp = payload.exp!
    const issuedAt = new Date(this.#requireTimes(payload, now().getTime() / 1000) * 1000)
    const { user, tokensRevokedAt } = await findAccount(payload, issuedAt)
    if (tokensRevokedAt !== null && issuedAt < tokensRevokedAt) throw refused('token-revoked')
    return { kind: 'user', user, signedBy: key.id, endsAt: exp * 1000, expiresAt: (exp + skewSeconds) * 1000 }
  }

  async #verifySignature(token: string, client: string): Promise<{ payload: JWTPayload; key: HostKey }> {
    const { keys, loginThrottle, settings, now } = this.#options
    const { issuer, audience } = settings
    const candidates = await keys.find(readKid(token))
    loginThrottle.requireRoom([client])
    let fault: Problem = refused('token-key-unknown')
    for (const key of candidates) {
      const options: JWTVerifyOptions = {
        algorithms: [...key.algorithms],
        clockTolerance: skewSeconds,
        currentDate: now(),
        requiredClaims: ['exp'],
        ...(issuer !== null && { issuer }),
        ...(audience !== null && { audience }),
      }
      try {
        const { payload } = await jwtVerify(token, key.resolve, options)
        return { payload, key }
      } catch (error) {
        fault = toRefusal(error)
        // Only a key that does not fit leaves the next one a chance: claims are read when the signature is right.
        if (fault.code !== 'token-signature' && fault.code !== 'token-algorithm') throw fault
      }
    }
    if (fault.code === 'token-signature') loginThrottle.count([client])
    throw fault
  }

  /**
   * When a token was issued, in seconds since 1970. Where it does not say that, as early as can be: a token that may have
   * been issued before a revocation counts as revoked.
   */
  #requireTimes({ exp, iat }: JWTPayload, now: number): number {
    const { maxSeconds } = this.#options.settings
    if (iat !== undefined && iat > now + skewSeconds) throw refused('token-not-yet-valid')
    const longest = iat === undefined ? exp! - now - skewSeconds : exp! - iat
    if (longest > maxSeconds) throw refused('token-lifetime')
    return iat ?? exp! - maxSeconds
  }
}

function readKid(token: string): string | undefined {
  try {
    const { kid } = decodeProtectedHeader(token)
    if (kid === undefined || typeof kid === 'string') return kid
  } catch {
    // It is refused below, as any other header that cannot be read.
  }
  throw refused('token-malformed')
}

const faultOfClaim: Record<string, HostTokenFault> = {
  iss: 'token-issuer',
  aud: 'token-audience',
  nbf: 'token-not-yet-valid',
}

function toRefusal(error: unknown): Problem {
  if (error instanceof errors.JWSSignatureVerificationFailed) return refused('token-signature')
  if (error instanceof errors.JWTExpired) return refused('token-expired')
  if (error instanceof errors.JWTClaimValidationFailed) {
    const fault = error.reason === 'invalid' ? undefined : faultOfClaim[error.claim]
    return fault === undefined ? refused('token-claims', `The claims of the token: ${error.message}.`) : refused(fault)
  }
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return refused('token-malformed')
  // The rest of what jose throws: the algorithm, or the key, is none that it verifies such a token with.
  const fault = refused('token-algorithm')
  if (!(error instanceof errors.JOSEError)) fault.cause = error
  return fault
}
