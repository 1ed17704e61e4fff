import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose'
import { answer, Receiver } from './receiver.ts'

/** A claim that is undefined is left out. */
type Claims = Record<string, unknown>

interface HostPair {
  jwk: JWK
  privateKey: CryptoKey
  alg: string
}

interface Signing {
  /** Of the key that signs; default: the newest. */
  kid?: string
  /** What the header says; default: what is true. */
  header?: Record<string, unknown>
  /** Signs with a key of its own, which has this one's kid and is in no set. */
  isForged?: boolean
}

/** The system that users are signed in to: it serves its key set over HTTP, and signs tokens with any of its keys. */
export class Host implements AsyncDisposable {
  readonly issuer = 'https://host.example/'
  readonly audience = 'parley'
  readonly receiver = new Receiver(answer(200))
  readonly #pairs = new Map<string, HostPair>()
  #published: string[] = []

  /** Environment variables of a node that accepts its tokens. The set is read again every second. */
  get settings(): Record<string, string> {
    return {
      AUTH_JWKS_URL: `http://127.0.0.1:${this.receiver.port}/keys`,
      AUTH_ISSUER: this.issuer,
      AUTH_AUDIENCE: this.audience,
      AUTH_JWKS_SECONDS: '1',
      AUTH_CREATE: 'true',
    }
  }

  /** Makes a key that tokens are signed with from now on, and publishes it. */
  async addKey(kid: string, alg = 'ES256', { isPublished = true, keyAlg = true } = {}): Promise<HostPair> {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
    const jwk = { ...(await exportJWK(publicKey)), kid, use: 'sig', ...(keyAlg && { alg }) }
    const pair = { jwk, privateKey, alg }
    this.#pairs.set(kid, pair)
    if (isPublished) this.publish(...this.#published, kid)
    return pair
  }

  /** Serves the set of these keys from now on. */
  publish(...kids: string[]): void {
    this.#published = kids
    this.receiver.behaviour = answer(200, JSON.stringify({ keys: kids.map(kid => this.#pairs.get(kid)!.jwk) }))
  }

  /** A token that is valid for an hour, but for what `claims` say. */
  async token(uid: string, claims: Claims = {}, { kid, header = {}, isForged = false }: Signing = {}): Promise<string> {
    const name = kid ?? [...this.#pairs.keys()].at(-1)!
    const { privateKey, alg } = this.#pairs.get(name)!
    const now = Math.floor(Date.now() / 1000)
    const payload = { iss: this.issuer, aud: this.audience, sub: uid, iat: now, exp: now + 3600, ...claims }
    const key = isForged ? (await generateKeyPair(alg)).privateKey : privateKey
    return new SignJWT(payload).setProtectedHeader({ alg, kid: name, ...header }).sign(key)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.receiver[Symbol.asyncDispose]()
  }
}

/** A host with one key. */
export async function startHost(): Promise<Host> {
  const host = new Host()
  await host.receiver.listen()
  await host.addKey('first')
  return host
}
