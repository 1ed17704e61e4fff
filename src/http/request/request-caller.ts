import type { AppPlace, Principal } from '../../auth/principal.ts'

/** What is noted of the request for the audit log, where an API key changes something. */
interface Origin {
  /** The id of the request. */
  request: string
  addressOf: () => string
}

/** A principal as the caller of one request. */
export class RequestCaller implements Principal {
  readonly kind: Principal['kind']
  readonly user: number
  readonly credential: string
  readonly signedBy: string | undefined
  readonly grant: number | undefined
  readonly session: number | undefined
  readonly place = new RequestPlace()
  readonly #origin: Origin | null

  constructor({ kind, user, credential, signedBy, grant, session }: Principal, origin: Origin | null) {
    this.kind = kind
    this.user = user
    this.credential = credential
    this.signedBy = signedBy
    this.grant = grant
    this.session = session
    this.#origin = origin
  }

  get request(): string | undefined {
    return this.#origin?.request
  }

  /**
   * Undefined once the client has gone away. Read only where it is needed: that costs a tenth of a whole request.
   */
  get ip(): string | undefined {
    return this.#origin?.addressOf() || undefined
  }
}

/** The place of one request in the history of the app that it is about: the last one that it has written to or found. */
export class RequestPlace implements AppPlace {
  #app = 0
  #rev: number | null = null
  #isRepeated = false
  #hasWritten = false

  /** The rev of the answer: see docs/realtime.md. Null where it is about no app. */
  get rev(): number | null {
    return this.#rev
  }

  /** Of one app the first time counts: what was read then has no later events for certain. */
  found({ id, rev, head_rev }: Parameters<AppPlace['found']>[0]): void {
    if (this.#app === id && (this.#hasWritten || !this.#isRepeated)) return
    this.#app = id
    this.#hasWritten = false
    this.#rev = this.#isRepeated ? rev : head_rev
  }

  wrote(app: number, rev: number): void {
    this.#app = app
    this.#rev = rev
    this.#hasWritten = true
  }

  repeated(): void {
    this.#isRepeated = true
  }
}
