import type { HttpRequest } from 'uWebSockets.js'
import type { Principal } from '../../../auth/principal.ts'
import type { Clock } from '../../../lib/clock.ts'
import { BadRequest, Forbidden, Problem, problem } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { Admission } from '../../sessions/admission.ts'
import type { FanOut } from '../../fan-out.ts'
import { Incoming, pong, refusal, welcome } from '../frames.ts'
import { findCodec, withScalars, type Codec } from '../protocol.ts'
import { closeCodes, toCloseCode, type Session } from '../../sessions/session.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import { bearerIn, type UpgradeRequest, type WebSocketEndpoint } from '../../sessions/socket.ts'
import type { RealtimeSettings } from '../../settings.ts'

export const path = '/api/realtime'

export const ProtocolUnknown = problem(
  400,
  'protocol-unknown',
  'The subprotocols that are spoken here are json and msgpack.',
)
export const HelloExpected = problem(401, 'hello-expected', 'Say hello with an access token, and wait for the welcome.')
export const TooManyFrames = problem(429, 'too-many-frames', 'You send too many frames.')
export const TooManySubscriptions = problem(429, 'too-many-subscriptions', 'You are subscribed to too many apps.')

export interface NativeParts {
  admission: Admission
  sessions: Sessions
  fanOut: FanOut
  settings: RealtimeSettings
  clock: Clock
  log: Log
}

/** Before a token in an offered subprotocol. */
const bearer = 'bearer.'

/** The WebSocket endpoint for the native protocol (docs/realtime.md). */
export class Native implements WebSocketEndpoint {
  readonly path = path
  readonly kind = 'native'
  readonly #parts: NativeParts

  constructor(parts: NativeParts) {
    this.#parts = parts
  }

  /** Clients authenticate by header, subprotocol or query, whichever they can. */
  readUpgrade(req: HttpRequest): UpgradeRequest {
    const offered = req
      .getHeader('sec-websocket-protocol')
      .split(/\s*,\s*/)
      .filter(Boolean)
    const scalars = req.getQuery('scalars') ?? 'string'
    if (scalars !== 'string' && scalars !== 'number') throw BadRequest({ scalars: 'must be string or number' })
    const codec = codecOf(offered, scalars)
    const subprotocol = offered.find(protocol => protocol.startsWith(bearer))?.slice(bearer.length)
    return {
      codec,
      protocol: offered.length === 0 ? '' : codec.protocol,
      token: bearerIn(req) ?? subprotocol ?? (req.getQuery('access_token') || null),
    }
  }

  /**
   * Handles a frame of the client. Never throws: a frame that cannot be parsed is refused, and a few of them end the
   * session.
   */
  onMessage(session: Session, message: ArrayBuffer, isBinary: boolean): void {
    const { framesPerSecond, subscriptions } = this.#parts.settings
    if (!session.admits(this.#parts.clock.now(), framesPerSecond, framesPerSecond + subscriptions)) {
      return this.#endWith(session, TooManyFrames())
    }
    const { user } = session
    const isAllowed =
      user === undefined
        ? session.allowsBeforeHello(message.byteLength)
        : this.#parts.admission.allowsBytes(user, message.byteLength)
    if (!isAllowed) return this.#endWith(session, TooManyFrames())
    const frame = read(session, message, isBinary)
    if (frame === null) return this.#rejectFrame(session, BadRequest())
    if (frame.type === 'ping') return session.send(pong)
    if (frame.type === 'hello') return this.#hello(session, frame)
    if (session.state.state === 'opening') return this.#rejectFrame(session, HelloExpected())
    if (frame.type === 'subscribe') return this.#subscribe(session, frame)
    this.#parts.fanOut.unsubscribe(session, frame.app_id)
  }

  /** Opens the session for a principal, or ends it with the reason of a refusal. */
  onOpen(session: Session, principal: Principal): void {
    const { admission, sessions } = this.#parts
    if (session.isClosed) return
    try {
      sessions.open(session, principal, admission.admit(principal))
    } catch (error) {
      return this.refuse(session, error)
    }
    this.#greet(session)
  }

  /** Ends a session that could not be opened, with the reason. */
  refuse(session: Session, error: unknown): void {
    if (error instanceof Problem) return this.#endWith(session, error)
    this.#parts.log.warn({ error }, 'A session could not be opened')
    session.close(closeCodes.failed, 'reconnect')
  }

  #hello(session: Session, { access_token, scalars }: Extract<Incoming, { type: 'hello' }>): void {
    const accept = (principal: Principal) => {
      if (session.state.state === 'open') return this.#renew(session, principal)
      if (scalars !== undefined) session.useCodec(withScalars(session.codec, scalars))
      this.onOpen(session, principal)
    }
    try {
      const principal = this.#parts.admission.authenticate(access_token)
      if (!(principal instanceof Promise)) return accept(principal)
      principal.then(accept).catch((error: unknown) => this.refuse(session, error))
    } catch (error) {
      this.refuse(session, error)
    }
  }

  /** Prolongs the session by a fresh token of its user; it does not count as another session. */
  #renew(session: Session, principal: Principal): void {
    if (principal.user !== session.user) return this.#endWith(session, Forbidden())
    session.open(principal, this.#parts.admission.renew(principal))
    this.#greet(session)
  }

  #greet(session: Session): void {
    const { state, codec } = session
    if (state.state !== 'open') return
    session.send(welcome(state.principal.user, codec.scalars, state.expiresAt, this.#parts.clock.now()))
  }

  #subscribe(session: Session, { app_id, after, agents, request_id }: Extract<Incoming, { type: 'subscribe' }>): void {
    const { fanOut, settings } = this.#parts
    const { subscriptions } = session
    if (!subscriptions.has(app_id) && subscriptions.size >= settings.subscriptions) {
      return session.send(refusal(TooManySubscriptions(), { app_id, request_id }))
    }
    fanOut.subscribe(session, app_id, { after, agents, request: request_id })
  }

  #rejectFrame(session: Session, reason: Problem): void {
    session.send(refusal(reason))
    if (!session.toleratesFault()) session.close(closeCodes.malformed, 'too many frames that make no sense')
  }

  #endWith(session: Session, reason: Problem): void {
    session.send(refusal(reason))
    session.close(toCloseCode(reason.status), reason.code)
  }
}

function read(session: Session, message: ArrayBuffer, isBinary: boolean): Incoming | null {
  try {
    return Incoming.parse(session.codec.decode(message, isBinary))
  } catch {
    // However a client breaks the parser, the fault is its own.
    return null
  }
}

function codecOf(offered: string[], scalars: 'string' | 'number'): Codec {
  for (const protocol of offered.length === 0 ? ['json'] : offered) {
    const codec = findCodec(protocol, scalars)
    if (codec !== undefined) return codec
  }
  throw ProtocolUnknown()
}
