import type { HttpRequest } from 'uWebSockets.js'
import { z } from 'zod'
import type { Principal } from '../../../auth/principal.ts'
import type { Clock } from '../../../lib/clock.ts'
import { knownOf } from '../../../http/request/names/known-members.ts'
import { Unknown } from '../../../http/request/names/unknown.ts'
import { QueryReader } from '../../../http/request/query.ts'
import { BadRequest, Forbidden, invalid, Problem, problem } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { Epoch } from '../../../log/epoch.ts'
import type { Admission } from '../../sessions/admission.ts'
import type { FanOut } from '../../fan-out.ts'
import { Incoming, pong, refusal, welcome } from '../frames.ts'
import { findCodec, withScalars, type Codec } from '../protocol.ts'
import { closeCodes, helloBytes, toCloseCode, type Session } from '../../sessions/session.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import { Subscriber, type FindByUid } from './subscriber.ts'
import {
  bearerIn,
  bearerPrefix,
  offeredProtocols,
  type UpgradeRequest,
  type WebSocketEndpoint,
} from '../../sessions/socket.ts'
import type { RealtimeSettings } from '../../settings.ts'

export const path = '/api/realtime'

export const ProtocolUnknown = problem(
  400,
  'protocol-unknown',
  'The subprotocols that are spoken here are json and msgpack.',
)
export const HelloExpected = problem(401, 'hello-expected', 'Say hello with an access token, and wait for the welcome.')
export const HelloTooLarge = problem(
  400,
  'hello-too-large',
  'Before the welcome, a frame may have 12 KiB: say hello with an access token, and wait for the welcome.',
)
export const TooManyFrames = problem(429, 'too-many-frames', 'You send too many frames.')

export interface NativeParts {
  epoch: Pick<Epoch, 'id'>
  admission: Admission
  sessions: Sessions
  fanOut: FanOut
  findByUid: FindByUid
  /** Who is online, for sessions that ask for it. */
  online: { subscribe(session: Session): boolean; unsubscribe(session: Session): void }
  settings: RealtimeSettings
  clock: Clock
  log: Log
}

/** What the address of a connection may have. */
const query = new QueryReader(z.object({ access_token: z.string(), scalars: z.string() }))

/** The WebSocket endpoint for the native protocol (docs/realtime.md). */
export class Native implements WebSocketEndpoint {
  readonly path = path
  readonly kind = 'native'
  readonly #parts: NativeParts
  readonly #subscriber: Subscriber

  constructor(parts: NativeParts) {
    this.#parts = parts
    this.#subscriber = new Subscriber(parts)
  }

  /** Clients authenticate by header, subprotocol or query, whichever they can. */
  readUpgrade(req: HttpRequest): UpgradeRequest {
    const unknown = new Unknown('usual')
    const offered = offeredProtocols(req)
    const values = query.read(req.getQuery() || '', unknown)
    if (unknown.errors !== undefined) throw invalid(unknown.errors)
    const scalars = values.scalars ?? 'string'
    if (scalars !== 'string' && scalars !== 'number') throw BadRequest({ scalars: 'must be string or number' })
    const codec = codecOf(offered, scalars)
    const subprotocol = offered.find(protocol => protocol.startsWith(bearerPrefix))?.slice(bearerPrefix.length)
    return {
      codec,
      protocol: offered.length === 0 ? '' : codec.protocol,
      token: bearerIn(req) ?? subprotocol ?? (values.access_token as string | undefined) ?? null,
    }
  }

  /**
   * Handles a frame of the client. Never throws: a frame that cannot be parsed is refused, and a few of them end the
   * session.
   */
  onMessage(session: Session, message: ArrayBuffer, isBinary: boolean): void {
    if (!this.#admits(session)) return this.#endWith(session, TooManyFrames())
    const { user } = session
    if (user === undefined && message.byteLength > helloBytes) return this.#endWith(session, HelloTooLarge())
    const isAllowed =
      user === undefined
        ? session.allowsBeforeHello(message.byteLength)
        : this.#parts.admission.allowsBytes(user, message.byteLength)
    if (!isAllowed) return this.#endWith(session, TooManyFrames())
    const read = readFrame(session, message, isBinary)
    if ('refusal' in read) return this.#rejectFrame(session, read.refusal, read.about)
    const { frame } = read
    if (frame.type === 'ping') return session.send(pong)
    if (frame.type === 'hello') return this.#hello(session, frame)
    if (session.state.state === 'opening') return this.#rejectFrame(session, HelloExpected())
    if (frame.type === 'subscribe') return this.#subscribe(session, frame)
    if (frame.type === 'online') {
      const { online } = this.#parts
      return void (frame.is_wanted ? online.subscribe(session) : online.unsubscribe(session))
    }
    this.#parts.fanOut.unsubscribe(session, frame.app_id)
  }

  onClose(session: Session): void {
    this.#parts.online.unsubscribe(session)
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
    this.#parts.admission.settle(access_token, session.ip, accept, error => this.refuse(session, error))
  }

  /** Prolongs the session by a fresh token of its user; it does not count as another session. */
  #renew(session: Session, principal: Principal): void {
    if (principal.user !== session.user) return this.#endWith(session, Forbidden())
    session.open(principal, this.#parts.admission.renew(principal))
    this.#greet(session)
  }

  #greet(session: Session): void {
    const { state, codec } = session
    const { clock, epoch } = this.#parts
    if (state.state !== 'open') return
    session.send(welcome(state.principal.user, codec.scalars, state.expiresAt, clock.now(), epoch.id))
  }

  /** Each app of a frame counts as one, and the first has been counted. */
  #subscribe(session: Session, frame: Extract<Incoming, { type: 'subscribe' }>): void {
    const { apps = [frame], epoch, snapshot, agents } = frame
    if (apps.length > 1 && !this.#admits(session, apps.length - 1)) return this.#endWith(session, TooManyFrames())
    this.#subscriber.subscribe(
      session,
      apps.map(asked => ({ epoch, snapshot, agents, ...asked })),
    )
  }

  /** Counts a frame, or what it does at once as so many; false where the session sends too many. */
  #admits(session: Session, count = 1): boolean {
    const { clock, settings } = this.#parts
    const { framesPerSecond: perSecond, subscriptions } = settings
    return session.admits(clock.now(), { perSecond, most: perSecond + subscriptions }, count)
  }

  #rejectFrame(session: Session, reason: Problem, about?: Record<string, unknown>): void {
    session.send(refusal(reason, about))
    if (!session.toleratesFault()) session.close(closeCodes.malformed, 'too many frames that make no sense')
  }

  #endWith(session: Session, reason: Problem): void {
    session.send(refusal(reason))
    session.close(toCloseCode(reason.status), reason.code)
  }
}

/** The members of each type of frame. */
const known = new Map(Incoming.options.map(option => [option.shape.type.value as unknown, knownOf(option)!]))

/** A frame; or why it is refused, and what it is about, as far as that can be read. */
type Read = { frame: Incoming } | { refusal: Problem; about?: Record<string, unknown> }

/** Members that resemble known ones are mistakes, as in the bodies of requests; others have no effect. */
function readFrame(session: Session, message: ArrayBuffer, isBinary: boolean): Read {
  try {
    const given = session.codec.decode(message, isBinary)
    const frame = Incoming.parse(given)
    const unknown = new Unknown('usual')
    unknown.look(known.get(frame.type)!, given)
    if (unknown.errors === undefined) return { frame }
    const { app_id, app, request_id } = frame as Partial<Extract<Incoming, { type: 'subscribe' }>>
    return { refusal: invalid(unknown.errors), about: { app_id, app, request_id } }
  } catch {
    // However a client breaks the parser, the fault is its own.
    return { refusal: BadRequest() }
  }
}

function codecOf(offered: string[], scalars: 'string' | 'number'): Codec {
  for (const protocol of offered.length === 0 ? ['json'] : offered) {
    const codec = findCodec(protocol, scalars)
    if (codec !== undefined) return codec
  }
  throw ProtocolUnknown()
}
