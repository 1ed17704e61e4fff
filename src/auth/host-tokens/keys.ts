import { createPublicKey, hash } from 'node:crypto'
import { calculateJwkThumbprint, createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'

/** A key that tokens of the host are verified with. */
export interface HostKey {
  /** Equal for equal keys, in every node and set. */
  readonly id: string
  /** The one that the key has in its set; tokens that name another are not verified with it. Null: any will do. */
  readonly kid: string | null
  /** What a token may be signed with. The key narrows it further: an EC key fits one of them alone. */
  readonly algorithms: readonly string[]
  /** The key for the algorithm in a token's header. Rejects with an error of jose where the key does not fit it. */
  readonly resolve: JWTVerifyGetKey
}

/** The keys of the host, wherever they come from. */
export interface HostKeys {
  /** The keys for a token with this `kid`, or without one; none where it is unknown. 503 where no key is known yet. */
  find(kid: string | undefined): Promise<readonly HostKey[]>
  /** Calls the listener with the ids of keys that tokens are not verified with any more. */
  onGone(listener: (ids: ReadonlySet<string>) => void): void
}

/** Never an HMAC algorithm: a client that knows the public key could sign with it. */
const publicAlgorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
const secretAlgorithms = ['HS256', 'HS384', 'HS512']

/** The one secret that the host and this server share. */
export function sharedSecret(secret: string): HostKeys {
  const bytes = new TextEncoder().encode(secret)
  return fixed({
    id: hash('sha256', bytes, 'base64'),
    kid: null,
    algorithms: secretAlgorithms,
    resolve: () => bytes,
  })
}

/** The one public key of the host, in PEM. */
export async function publicKey(pem: string): Promise<HostKeys> {
  const jwk = createPublicKey(pem).export({ format: 'jwk' })
  return fixed({ ...(await toHostKeys({ keys: [jwk as JSONWebKeySet['keys'][number]] }))[0]!, kid: null })
}

function fixed(key: HostKey): HostKeys {
  return { find: async () => [key], onGone() {} }
}

/** Longer sets are cut: a token without a `kid` is tried with every key. */
const mostKeys = 100

/** The public keys of a key set (RFC 7517); secrets, and keys of unknown kinds, are left out. */
export async function toHostKeys({ keys }: JSONWebKeySet): Promise<HostKey[]> {
  const found = await Promise.all(
    keys.slice(0, mostKeys).map(async (jwk): Promise<HostKey[]> => {
      try {
        const set = createLocalJWKSet({ keys: [jwk] })
        const kid = typeof jwk.kid === 'string' ? jwk.kid : null
        return [
          {
            id: `${await calculateJwkThumbprint(jwk)} ${kid}`,
            kid,
            algorithms: publicAlgorithms,
            // The kid was compared before, and need not be in a token at all.
            resolve: ({ alg }) => set({ alg }),
          },
        ]
      } catch {
        // One key that cannot be used must not take the others with it.
        return []
      }
    }),
  )
  return found.flat()
}
