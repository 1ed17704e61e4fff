import { codes, finalCodes, toDelayMs } from './delays.ts'
import { Drafts } from './drafts.ts'
import type { AgentDelta, AgentRun, Incoming, PersonalFrame, RealtimeEvent, Typing } from './events.ts'
import { Connection, type SocketType } from './connection.ts'

export interface ClientOptions {
  /** The URL of the server, such as `https://chat.example`. */
  url: string
  /** Returns an access token; with `isRefused` a new one, because the last one is not valid any more. */
  token: (isRefused: boolean) => string | Promise<string>
  /**
   * Called with frames that concern the user, whichever app. They have no history: after `connected`, ask over HTTP.
   */
  personal?: (frame: PersonalFrame) => void
  /** `connected` after each welcome; `waiting` when the connection was lost and will be restored. */
  status?: (status: Status) => void
  /** Default: the global WebSocket, which browsers and Node 22 have. */
  WebSocket?: SocketType
}

export type Status =
  | { state: 'connected'; user: number }
  | { state: 'waiting'; delayMs: number }
  /** Final: closed by `close`, or refused by the server. */
  | { state: 'closed'; code: number | null }

export interface Listener {
  /** Called with every event exactly once, in order. A listener that throws still gets the next one. */
  event: (event: RealtimeEvent) => void
  typing?: (typing: Typing) => void
  /** Called while an agent works, every 5 seconds, and when it has ended, after the event with its answer. */
  run?: (run: AgentRun) => void
  /**
   * Called while an agent writes: the added text, and the draft so far. An empty draft is to be hidden until the next
   * call.
   */
  delta?: (run: number, text: string, whole: string) => void
  /** The missed history is gone: load the app over HTTP. Later events follow. */
  reset?: (rev: number) => void
  /** The subscription has ended: access was lost, the app was deleted, or it never existed (`not-found`). */
  ended?: (reason: string) => void
}

/** A subscription to one app. */
export interface Subscription {
  /** The rev of the last event: pass it as `after` to continue from there. */
  readonly rev: number | undefined
  end(): void
}

interface Entry {
  readonly app: number
  readonly listener: Listener
  rev: number | undefined
  /**
   * The last subscribe request, and whether it was answered: frames before the answer belong to the earlier
   * subscription.
   */
  request: number
  isAnswered: boolean
  readonly drafts: Drafts
}

/** How long before its expiry a token is renewed. */
const renewalMs = 60_000

/** The least pause between requests for a token, even where each one is about to expire. */
const tokenPauseMs = 1_000

/** The longest delay of a timer. */
const timerLimitMs = 2 ** 31 - 1

/**
 * Receives events across lost connections: reconnects with growing random pauses, resumes every app after the last
 * event received, and renews its token in time. Lives until `close`, or until the server refuses it for good; its
 * position is lost with it, unless the caller keeps `rev`.
 */
export class RealtimeClient {
  readonly #options: ClientOptions
  readonly #entries = new Map<number, Entry>()
  #connection: Connection | null = null
  #isWelcome = false
  #isClosed = false
  #requests = 0
  #failures = 0
  #isRefused = false
  #pause: ReturnType<typeof setTimeout> | undefined
  #renewal: ReturnType<typeof setTimeout> | undefined

  constructor(options: ClientOptions) {
    this.#options = options
    void this.#connect()
  }

  /**
   * Subscribes to an app by its id: after the rev `after`, or from now on. One listener per app; a second replaces it.
   */
  subscribe(id: number | string, listener: Listener, after?: number): Subscription {
    const app = toAppId(id)
    const entry: Entry = { app, listener, rev: after, request: 0, isAnswered: false, drafts: new Drafts() }
    this.#entries.set(app, entry)
    if (this.#isWelcome) this.#ask(entry)
    return {
      get rev() {
        return entry.rev
      },
      end: () => {
        if (this.#entries.get(app) !== entry) return
        this.#entries.delete(app)
        if (this.#isWelcome) this.#connection?.send({ type: 'unsubscribe', app_id: app })
      },
    }
  }

  /** Closes the connection for good. */
  close(): void {
    this.#finish(null)
  }

  async #connect(): Promise<void> {
    try {
      const token = await this.#options.token(this.#isRefused)
      if (this.#isClosed) return
      this.#connection = this.#open(token)
      this.#isRefused = false
    } catch {
      // The source of tokens failed or returned an invalid one; it is asked again after a pause.
      this.#lose(1006)
    }
  }

  #open(token: string): Connection {
    const { url, WebSocket = globalThis.WebSocket as unknown as SocketType } = this.#options
    return new Connection({
      url: `${url.replace(/^http/, 'ws').replace(/\/$/, '')}/api/realtime`,
      token,
      // A refused upgrade looks like a network failure; after a hello frame the server gives the reason.
      saysHello: this.#failures > 0,
      Socket: WebSocket,
      onFrame: frame => this.#onFrame(frame),
      onClose: code => this.#lose(code),
    })
  }

  #lose(code: number): void {
    if (this.#isClosed) return
    this.#connection = null
    clearTimeout(this.#renewal)
    if (finalCodes.includes(code)) return this.#finish(code)
    // Until there is another token, whatever else fails meanwhile.
    if (code === codes.unauthorized) this.#isRefused = true
    const delayMs = toDelayMs(code, this.#failures, Math.random)
    this.#failures++
    this.#isWelcome = false
    this.#pause = setTimeout(() => void this.#connect(), delayMs)
    this.#options.status?.({ state: 'waiting', delayMs })
  }

  #finish(code: number | null): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#isWelcome = false
    clearTimeout(this.#pause)
    clearTimeout(this.#renewal)
    this.#connection?.close()
    this.#options.status?.({ state: 'closed', code })
  }

  #ask(entry: Entry): void {
    entry.request = ++this.#requests
    entry.isAnswered = false
    for (const run of entry.drafts.clear()) entry.listener.delta?.(run, '', '')
    const { app, listener, rev: after, request: request_id } = entry
    const agents = listener.run !== undefined || listener.delta !== undefined ? true : undefined
    this.#connection?.send({ type: 'subscribe', app_id: app, after, request_id, agents })
  }

  #onFrame(frame: Incoming): void {
    switch (frame.type) {
      case 'welcome':
        return this.#start(frame.user_id, frame.expires_in * 1_000)
      case 'event':
        return this.#deliver(frame)
      case 'typing':
        return this.#entries.get(frame.app_id)?.listener.typing?.(frame)
      case 'agent_run':
        return this.#watch(frame.app_id, frame.run)
      case 'agent_delta':
        return this.#draft(frame)
      case 'subscribed':
        return this.#begin(this.#asked(frame), frame.rev)
      case 'current':
      case 'reset':
        return this.#move(frame.type, frame.app_id, frame.rev)
      case 'unsubscribed':
        return frame.reason === 'requested' ? undefined : this.#drop(this.#answered(frame.app_id), frame.reason)
      case 'error':
        return this.#drop(this.#asked(frame), frame.code)
      case 'pong':
        return
      default:
        this.#options.personal?.(frame)
    }
  }

  #start(user: number, leftMs: number): void {
    clearTimeout(this.#renewal)
    // A short-lived token is renewed after half of its life, so that there is time for another attempt.
    const afterMs = Math.max(leftMs - renewalMs, leftMs / 2, tokenPauseMs)
    if (afterMs < timerLimitMs) this.#renewal = setTimeout(() => void this.#renew(), afterMs)
    // A renewed token is welcomed too; nothing else changes.
    if (this.#isWelcome) return
    this.#isWelcome = true
    this.#failures = 0
    for (const entry of this.#entries.values()) this.#ask(entry)
    this.#options.status?.({ state: 'connected', user })
  }

  async #renew(): Promise<void> {
    const connection = this.#connection
    try {
      const token = await this.#options.token(true)
      if (connection !== null && connection === this.#connection)
        connection.send({ type: 'hello', access_token: token })
    } catch {
      // The server ends the connection with the token; the next connection asks again.
    }
  }

  #deliver(event: RealtimeEvent): void {
    const entry = this.#answered(event.app_id)
    if (entry?.rev === undefined || event.rev <= entry.rev) return
    entry.rev = event.rev
    try {
      entry.listener.event(event)
    } catch (error) {
      // An error of one listener must not affect the others.
      setTimeout(() => {
        throw error
      })
    }
  }

  #watch(app: number, run: AgentRun): void {
    const entry = this.#entries.get(app)
    if (run.state !== 'running' && run.state !== 'queued') entry?.drafts.end(run.id)
    entry?.listener.run?.(run)
  }

  #draft(delta: AgentDelta): void {
    const entry = this.#entries.get(delta.app_id)
    const whole = entry?.drafts.add(delta) ?? null
    if (whole !== null) entry?.listener.delta?.(delta.run_id, whole === '' ? '' : delta.text, whole)
  }

  #begin(entry: Entry | undefined, rev: number): void {
    if (entry === undefined) return
    entry.isAnswered = true
    entry.rev = Math.max(entry.rev ?? 0, rev)
  }

  #move(type: 'current' | 'reset', app: number, rev: number): void {
    const entry = this.#answered(app)
    if (entry === undefined) return
    entry.rev = type === 'reset' ? rev : Math.max(entry.rev ?? 0, rev)
    if (type === 'reset') entry.listener.reset?.(rev)
  }

  #drop(entry: Entry | undefined, reason: string): void {
    if (entry === undefined) return
    this.#entries.delete(entry.app)
    entry.listener.ended?.(reason)
  }

  /** The subscription that an answer is for; undefined where a later request has replaced it. */
  #asked({ app_id, request_id }: { app_id?: number; request_id?: number }): Entry | undefined {
    const entry = app_id === undefined ? undefined : this.#entries.get(app_id)
    return entry?.request === request_id ? entry : undefined
  }

  /**
   * The subscription that any other frame is for; undefined where it was sent before the subscription ended or
   * restarted.
   */
  #answered(app: number): Entry | undefined {
    const entry = this.#entries.get(app)
    return entry?.isAnswered === true ? entry : undefined
  }
}

/** HTTP writes ids as strings of digits. A uid is not accepted: only the server could resolve it. */
function toAppId(id: number | string): number {
  const app = Number(id)
  if (Number.isSafeInteger(app) && app > 0) return app
  throw new TypeError(`subscribe takes the id of an app, as GET /api/apps/{app} gives it; ${id} is none`)
}
