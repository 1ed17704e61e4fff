import type { HttpRequest } from 'uWebSockets.js'
import type { EventTypes } from '../../../engine/catch-up.ts'
import type { Principal } from '../../../auth/principal.ts'
import { every, type Clock } from '../../../lib/clock.ts'
import { Forbidden, Problem, problem } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { Admission } from '../../sessions/admission.ts'
import type { FanOut } from '../../fan-out.ts'
import { closeCodes, toCloseCode, type Session } from '../../sessions/session.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import { bearerIn, type UpgradeRequest, type WebSocketEndpoint } from '../../sessions/socket.ts'
import type { RealtimeSettings } from '../../settings.ts'
import type { Publish } from '../../topics/app-topic.ts'
import { readName, type Name } from './names.ts'
import type { Online } from './online.ts'
import { hubCodecs, jsonHub, readHandshake, toHandshakeAnswer, type HubCodec, type HubMessage } from './records.ts'
import type { SignalRUserStreams } from './user-streams.ts'

export const path = '/hubs/rtm'

const TokenMissing = problem(401, 'unauthorized', 'A valid access token is needed.')

export interface HubParts {
  admission: Admission
  sessions: Sessions
  fanOut: FanOut
  userStreams: SignalRUserStreams
  online: Online
  events: EventTypes
  publish: Publish
  settings: RealtimeSettings
  signal: AbortSignal
  clock: Clock
  log: Log
}

/** SignalR clients disconnect after 30 seconds without a message; this tolerates two lost pings. */
const keepAliveMs = 10_000

/**
 * The most event names that a client may subscribe to in one app. The limits of names follow from the limits of apps.
 */
const namesPerApp = 12

/**
 * The WebSocket endpoint for SignalR clients. It has the methods Subscribe and Unsubscribe, each with one name, and
 * Authenticate, with a fresh token.
 * Sessions, rights and events are as in the native protocol, in another encoding. Events that a client missed while it
 * was away are not repeated: existing clients read them again over HTTP. The connection id of their negotiation is
 * ignored: any node will do.
 */
export class Hub implements WebSocketEndpoint {
  readonly path = path
  readonly kind = 'hub'
  readonly #parts: HubParts
  /** Sessions whose handshake has not come yet. */
  readonly #awaitingHandshake = new Map<Session, Principal>()
  /** User → the number of the user's sessions that await their handshake. */
  readonly #awaitingByUser = new Map<number, number>()

  constructor(parts: HubParts) {
    this.#parts = parts
    every(parts.clock, keepAliveMs, parts.signal, () => {
      for (const { everybody, ping, isBinary } of hubCodecs.values()) parts.publish(everybody, ping, isBinary)
    })
  }

  readUpgrade(req: HttpRequest): UpgradeRequest {
    const token = bearerIn(req) ?? (req.getQuery('access_token') || null)
    if (token === null) throw TokenMissing()
    // Until the handshake chooses a protocol.
    return { codec: jsonHub, protocol: '', token }
  }

  /**
   * Accepts a session, which is opened for the principal when its handshake has come; until then it counts towards the
   * user's limit, beyond which it is refused.
   */
  onOpen(session: Session, principal: Principal): void {
    const coming = this.#awaitingByUser.get(principal.user) ?? 0
    try {
      this.#parts.admission.requireUserCapacity(principal, coming)
    } catch (error) {
      return this.refuse(session, error)
    }
    this.#awaitingHandshake.set(session, principal)
    this.#awaitingByUser.set(principal.user, coming + 1)
  }

  /** Ends a session that could not be opened; the client negotiates again, and gets the reason there. */
  refuse(session: Session, error: unknown): void {
    if (error instanceof Problem) return session.close(toCloseCode(error.status), error.code)
    this.#parts.log.warn({ error }, 'A session of the hub could not be opened')
    session.close(closeCodes.failed, 'reconnect')
  }

  /** Handles a message of the client. Never throws: a client that sends nonsense is disconnected. */
  onMessage(session: Session, message: ArrayBuffer, isBinary: boolean): void {
    try {
      const principal = this.#awaitingHandshake.get(session)
      const user = principal?.user ?? session.user
      if (user !== undefined && !this.#parts.admission.allowsBytes(user, message.byteLength)) {
        return session.close(closeCodes.tooMany, 'too many frames')
      }
      const rest = principal === undefined ? message : this.#shakeHands(session, principal, message)
      if (rest.byteLength === 0 || session.isClosed) return
      const codec = codecOf(session)
      for (const received of codec.decode(rest, isBinary)) if (!session.isClosed) this.#answer(session, codec, received)
    } catch (error) {
      if (error instanceof Problem) return session.close(toCloseCode(error.status), error.code)
      // However a client breaks the parser, the fault is its own.
      session.close(closeCodes.malformed, 'not understood')
    }
  }

  /** Forgets a closed session. */
  onClose(session: Session): void {
    this.#endHandshake(session)
    this.#parts.userStreams.onClose(session)
  }

  /** Opens the session, and returns what followed the handshake in its message. */
  #shakeHands(session: Session, principal: Principal, message: ArrayBuffer): ArrayBuffer {
    const { admission, sessions } = this.#parts
    const { codec, rest } = readHandshake(message)
    this.#endHandshake(session)
    if (codec === null) {
      session.sendBytes(toHandshakeAnswer('The protocols that are spoken here are json and messagepack.'))
      session.close(closeCodes.malformed, 'protocol-unknown')
      return rest
    }
    try {
      session.useCodec(codec)
      sessions.open(session, principal, admission.admit(principal))
    } catch (error) {
      if (error instanceof Problem) session.sendBytes(toHandshakeAnswer(error.message))
      throw error
    }
    session.sendBytes(toHandshakeAnswer())
    session.join(codec.everybody)
    return rest
  }

  /** Ends the wait for a session's handshake: it has come, or the session is gone. */
  #endHandshake(session: Session): void {
    const user = this.#awaitingHandshake.get(session)?.user
    if (user === undefined) return
    this.#awaitingHandshake.delete(session)
    const coming = this.#awaitingByUser.get(user)! - 1
    if (coming === 0) this.#awaitingByUser.delete(user)
    else this.#awaitingByUser.set(user, coming)
  }

  #answer(session: Session, codec: HubCodec, received: HubMessage): void {
    const { framesPerSecond, subscriptions } = this.#parts.settings
    const burst = framesPerSecond + subscriptions * namesPerApp
    if (!session.admits(this.#parts.clock.now(), { perSecond: framesPerSecond, most: burst })) {
      return session.close(closeCodes.tooMany, 'too many frames')
    }
    if (received.kind === 'close') return session.close(closeCodes.normal, 'requested')
    if (received.kind === 'invocation') this.#invoke(session, codec, received)
  }

  #invoke(session: Session, codec: HubCodec, { id, target, args }: Extract<HubMessage, { kind: 'invocation' }>): void {
    const complete = (outcome: { result: boolean } | { error: string }) => {
      if (id !== null) session.sendBytes(codec.complete(id, outcome))
    }
    const name = readName(args[0], this.#parts.events)
    switch (target.toLowerCase()) {
      case 'subscribe': {
        const isSubscribed = name !== null && this.#subscribe(session, name)
        if (isSubscribed instanceof Promise) void isSubscribed.then(result => complete({ result }))
        else complete({ result: isSubscribed })
        return
      }
      case 'unsubscribe':
        if (name !== null) this.#unsubscribe(session, name)
        return complete({ result: true })
      case 'authenticate':
        return this.#renew(session, String(args[0]), () => complete({ result: true }))
      default:
        complete({ error: 'There is no such method; there are Subscribe, Unsubscribe and Authenticate.' })
    }
  }

  /** Prolongs the session by a fresh token of its user, or ends it with the reason. */
  #renew(session: Session, token: string, done: () => void): void {
    const { admission } = this.#parts
    const accept = (principal: Principal) => {
      if (session.isClosed) return
      if (principal.user !== session.user) throw Forbidden()
      session.open(principal, admission.renew(principal))
      done()
    }
    admission.settle(token, session.ip, accept, error => this.refuse(session, error))
  }

  /** The promise never rejects: a failure ends the subscription or the session. */
  #subscribe(session: Session, { app, event }: Name): boolean | Promise<boolean> {
    const { userStreams, online, fanOut, settings } = this.#parts
    if (app === null) return event === 'online' ? online.subscribe(session) : userStreams.subscribe(session, event)
    const { subscriptions } = session
    if (!subscriptions.has(app) && subscriptions.size >= settings.subscriptions) return false
    return fanOut.subscribeToEvent(session, app, event)
  }

  #unsubscribe(session: Session, { app, event }: Name): void {
    if (app === null) this.#parts.userStreams.unsubscribe(session, event)
    else this.#parts.fanOut.unsubscribeFromEvent(session, app, event)
  }
}

function codecOf({ codec }: Session): HubCodec {
  const found = [...hubCodecs.values()].find(({ protocol }) => protocol === codec.protocol)
  if (found === undefined) throw new Error('A session of the hub speaks another protocol')
  return found
}
