import type { EventTypes } from '../../../engine/catch-up.ts'
import type { Principal } from '../../../auth/principal.ts'
import { every, type Clock } from '../../../lib/clock.ts'
import { Problem } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { Admission } from '../../sessions/admission.ts'
import type { FanOut } from '../../fan-out.ts'
import { closeCodes, toCloseCode, type Session } from '../../sessions/session.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import type { RealtimeSettings } from '../../settings.ts'
import { readName, type Name } from './names.ts'
import type { Online } from './online.ts'
import { hubCodecs, readHandshake, toHandshakeAnswer, type HubCodec, type HubMessage } from './records.ts'
import type { SignalRUserStreams } from './user-streams.ts'

export interface HubParts {
  admission: Admission
  sessions: Sessions
  fanOut: FanOut
  userStreams: SignalRUserStreams
  online: Online
  events: EventTypes
  publish: (topic: string, bytes: Uint8Array, isBinary: boolean) => void
  settings: RealtimeSettings
  signal: AbortSignal
  clock: Clock
  log: Log
}

/** Clients go away when they get nothing for 30 seconds; two of these may get lost. */
const keepAliveMs = 10_000

/** Event names that a client may subscribe to in one app, so that its limits follow from those for apps. */
const namesPerApp = 12

/**
 * Answers clients that speak SignalR at /hubs/rtm: two methods, Subscribe and Unsubscribe, with one name each. The
 * sessions, rights and events are those of the native protocol; only the words are others. What a client missed while
 * it was away it does not get: existing clients read it again over HTTP.
 */
export class Hub {
  readonly #parts: HubParts
  /** Sessions that have not chosen a protocol yet. */
  readonly #awaitingHandshake = new Map<Session, Principal>()
  /** User → the number of these. */
  readonly #awaitingByUser = new Map<number, number>()

  constructor(parts: HubParts) {
    this.#parts = parts
    every(parts.clock, keepAliveMs, parts.signal, () => {
      for (const { everybody, ping, isBinary } of hubCodecs.values()) parts.publish(everybody, ping, isBinary)
    })
  }

  /**
   * The session belongs to the principal as soon as it has said which protocol it speaks; until then it counts as theirs,
   * and is refused above their limit.
   */
  open(session: Session, principal: Principal): void {
    const coming = this.#awaitingByUser.get(principal.user) ?? 0
    try {
      this.#parts.admission.requireShare(principal, coming)
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

  /** Handles a message of the client. Never throws: a client that makes no sense is disconnected. */
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
      for (const said of codec.decode(rest, isBinary)) if (!session.isClosed) this.#answer(session, codec, said)
    } catch (error) {
      if (error instanceof Problem) return session.close(toCloseCode(error.status), error.code)
      // Whatever a client sends, and however it breaks the parser: it is its fault.
      session.close(closeCodes.malformed, 'not understood')
    }
  }

  /** The session has ended. */
  onClose(session: Session): void {
    this.#endHandshake(session)
    this.#parts.userStreams.onClose(session)
  }

  /** Opens the session, and returns what the client has said beyond the handshake. */
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

  /** The handshake is over, or the session has gone. */
  #endHandshake(session: Session): void {
    const user = this.#awaitingHandshake.get(session)?.user
    if (user === undefined) return
    this.#awaitingHandshake.delete(session)
    const coming = this.#awaitingByUser.get(user)! - 1
    if (coming === 0) this.#awaitingByUser.delete(user)
    else this.#awaitingByUser.set(user, coming)
  }

  #answer(session: Session, codec: HubCodec, said: HubMessage): void {
    const { framesPerSecond, subscriptions } = this.#parts.settings
    const burst = framesPerSecond + subscriptions * namesPerApp
    if (!session.admits(this.#parts.clock.now(), framesPerSecond, burst)) {
      return session.close(closeCodes.tooMany, 'too many frames')
    }
    if (said.kind === 'close') return session.close(closeCodes.normal, 'requested')
    if (said.kind === 'invocation') this.#invoke(session, codec, said)
  }

  #invoke(session: Session, codec: HubCodec, { id, target, args }: Extract<HubMessage, { kind: 'invocation' }>): void {
    const complete = (outcome: { result: boolean } | { error: string }) => {
      if (id !== null) session.sendBytes(codec.complete(id, outcome))
    }
    const name = readName(args[0], this.#parts.events)
    switch (target.toLowerCase()) {
      case 'subscribe': {
        const isHeard = name !== null && this.#subscribe(session, name)
        if (isHeard instanceof Promise) void isHeard.then(result => complete({ result }))
        else complete({ result: isHeard })
        return
      }
      case 'unsubscribe':
        if (name !== null) this.#unsubscribe(session, name)
        return complete({ result: true })
      default:
        complete({ error: 'There is no such method; there are Subscribe and Unsubscribe.' })
    }
  }

  /** A promise never rejects: what fails ends the subscription, or the session. */
  #subscribe(session: Session, { app, event }: Name): boolean | Promise<boolean> {
    const { userStreams, online, fanOut, settings } = this.#parts
    if (app === null) {
      if (event === 'online' && session.user !== undefined) online.welcome(session.user)
      return userStreams.subscribe(session, event)
    }
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
