import type { EventTypes } from '../../actors/catch-up.ts'
import type { Principal } from '../../actors/principal.ts'
import { every, type Clock } from '../../lib/clock.ts'
import { Problem } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Admission } from '../admission.ts'
import type { FanOut } from '../fan-out.ts'
import { closeCodes, toCloseCode, type Session } from '../session.ts'
import type { Sessions } from '../sessions.ts'
import type { RealtimeSettings } from '../settings.ts'
import { readName, type Name } from './names.ts'
import type { Online } from './online.ts'
import { hubForms, readHandshake, toHandshakeAnswer, type HubForm, type Said } from './records.ts'
import type { Streams } from './streams.ts'

export interface HubParts {
  admission: Admission
  sessions: Sessions
  fanOut: FanOut
  streams: Streams
  online: Online
  events: EventTypes
  publish: (topic: string, bytes: Uint8Array, isBinary: boolean) => void
  settings: RealtimeSettings
  signal: AbortSignal
  clock: Clock
  log: Log
}

/** Clients go away when they hear nothing for 30 seconds; two of these may get lost. */
const keepAliveMs = 10_000

/** Names of one app that a client may want to hear, so that its limits follow from those for apps. */
const namesPerApp = 12

/**
 * Answers clients that speak SignalR at /hubs/rtm: two methods, Subscribe and Unsubscribe, with one name each. The
 * sessions, rights and events are those of the native protocol; only the words are others. What a client missed while
 * it was away it is not told: existing clients read it again over HTTP.
 */
export class Hub {
  readonly #parts: HubParts
  /** Those that have not said which protocol they speak. */
  readonly #strangers = new Map<Session, Principal>()
  /** How many of these each user has. */
  readonly #coming = new Map<number, number>()

  constructor(parts: HubParts) {
    this.#parts = parts
    every(parts.clock, keepAliveMs, parts.signal, () => {
      for (const { everybody, ping, isBinary } of hubForms.values()) parts.publish(everybody, ping, isBinary)
    })
  }

  /**
   * The session belongs to the principal as soon as it has said which protocol it speaks; until then it counts as theirs,
   * and is refused above their limit.
   */
  open(session: Session, principal: Principal): void {
    const coming = this.#coming.get(principal.user) ?? 0
    try {
      this.#parts.admission.requireShare(principal, coming)
    } catch (error) {
      return this.refuse(session, error)
    }
    this.#strangers.set(session, principal)
    this.#coming.set(principal.user, coming + 1)
  }

  /** Ends a session that could not be opened; the client negotiates again, and is told why there. */
  refuse(session: Session, error: unknown): void {
    if (error instanceof Problem) return session.close(toCloseCode(error.status), error.code)
    this.#parts.log.warn({ error }, 'A session of the hub could not be opened')
    session.close(closeCodes.failed, 'reconnect')
  }

  /** Takes a message from the client. Never throws: a client that makes no sense is sent away. */
  hear(session: Session, message: ArrayBuffer, isBinary: boolean): void {
    try {
      const principal = this.#strangers.get(session)
      const user = principal?.user ?? session.user
      if (user !== undefined && !this.#parts.admission.hears(user, message.byteLength)) {
        return session.close(closeCodes.tooMany, 'too many frames')
      }
      const rest = principal === undefined ? message : this.#shakeHands(session, principal, message)
      if (rest.byteLength === 0 || session.isClosed) return
      const form = formOf(session)
      for (const said of form.decode(rest, isBinary)) if (!session.isClosed) this.#answer(session, form, said)
    } catch (error) {
      if (error instanceof Problem) return session.close(toCloseCode(error.status), error.code)
      // Whatever a client sends, and however it breaks the parser: it is its fault.
      session.close(closeCodes.malformed, 'not understood')
    }
  }

  /** The session has ended. */
  leave(session: Session): void {
    this.#know(session)
    this.#parts.streams.leave(session)
  }

  /** Opens the session, and returns what the client has said beyond the handshake. */
  #shakeHands(session: Session, principal: Principal, message: ArrayBuffer): ArrayBuffer {
    const { admission, sessions } = this.#parts
    const { form, rest } = readHandshake(message)
    this.#know(session)
    if (form === null) {
      session.sendBytes(toHandshakeAnswer('The protocols that are spoken here are json and messagepack.'))
      session.close(closeCodes.malformed, 'protocol-unknown')
      return rest
    }
    try {
      session.speak(form)
      sessions.open(session, principal, admission.admit(principal))
    } catch (error) {
      if (error instanceof Problem) session.sendBytes(toHandshakeAnswer(error.message))
      throw error
    }
    session.sendBytes(toHandshakeAnswer())
    session.join(form.everybody)
    return rest
  }

  /** It is no stranger any more, or gone. */
  #know(session: Session): void {
    const user = this.#strangers.get(session)?.user
    if (user === undefined) return
    this.#strangers.delete(session)
    const coming = this.#coming.get(user)! - 1
    if (coming === 0) this.#coming.delete(user)
    else this.#coming.set(user, coming)
  }

  #answer(session: Session, form: HubForm, said: Said): void {
    const { framesPerSecond, subscriptions } = this.#parts.settings
    const burst = framesPerSecond + subscriptions * namesPerApp
    if (!session.admits(this.#parts.clock.now(), framesPerSecond, burst)) {
      return session.close(closeCodes.tooMany, 'too many frames')
    }
    if (said.kind === 'close') return session.close(closeCodes.normal, 'requested')
    if (said.kind === 'invocation') this.#invoke(session, form, said)
  }

  #invoke(session: Session, form: HubForm, { id, target, args }: Extract<Said, { kind: 'invocation' }>): void {
    const complete = (outcome: { result: boolean } | { error: string }) => {
      if (id !== null) session.sendBytes(form.complete(id, outcome))
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
    const { streams, online, fanOut, settings } = this.#parts
    if (app === null) {
      if (event === 'online' && session.user !== undefined) online.welcome(session.user)
      return streams.subscribe(session, event)
    }
    const { subscriptions } = session
    if (!subscriptions.has(app) && subscriptions.size >= settings.subscriptions) return false
    return fanOut.follow(session, app, event)
  }

  #unsubscribe(session: Session, { app, event }: Name): void {
    if (app === null) this.#parts.streams.unsubscribe(session, event)
    else this.#parts.fanOut.unfollow(session, app, event)
  }
}

function formOf({ form }: Session): HubForm {
  const found = [...hubForms.values()].find(({ protocol }) => protocol === form.protocol)
  if (found === undefined) throw new Error('A session of the hub speaks another protocol')
  return found
}
