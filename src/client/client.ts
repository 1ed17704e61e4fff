import { codes, finalCodes, toDelayMs } from './delays.ts'
import { Drafts } from './drafts.ts'
import type { AgentDelta, AgentRun, Incoming, PersonalFrame, RealtimeEvent, Typing } from './events.ts'
import { Connection, type SocketType } from './connection.ts'

export interface ClientOptions {
  /** Address of the server, such as `https://chat.example`. */
  url: string
  /** Gives an access token; with `isRefused`, another one than before, because that one is not valid any more. */
  token: (isRefused: boolean) => string | Promise<string>
  /** Told of what concerns the user, whichever app it is. It has no history: after `connected`, ask over HTTP. */
  personal?: (frame: PersonalFrame) => void
  /** `connected` after each welcome; `waiting` when the connection was lost and will be made again. */
  status?: (status: Status) => void
  /** Default: the global WebSocket, which browsers and Node 22 have. */
  WebSocket?: SocketType
}

export type Status =
  | { state: 'connected'; user: number }
  | { state: 'waiting'; delayMs: number }
  /** Nothing more will come: it was closed here, or the server does not want this client. */
  | { state: 'closed'; code: number | null }

export interface Listener {
  /** Every event exactly once, in order. A listener that throws gets the next one all the same. */
  event: (event: RealtimeEvent) => void
  typing?: (typing: Typing) => void
  /** An agent is at work: what it does, again every 5 seconds, and how it ended. The answer comes as an event before. */
  run?: (run: AgentRun) => void
  /** An agent writes: what was added, and the draft so far. An empty draft is to be hidden until the next. */
  delta?: (run: number, text: string, whole: string) => void
  /** The history that was missed is gone: load the app over HTTP. What follows comes as events. */
  reset?: (rev: number) => void
  /** The subscription is over: the right to it was lost, the app has gone, or it has never been there (`not-found`). */
  ended?: (reason: string) => void
}

/** One app that is listened to. */
export interface Subscription {
  /** The last rev that was heard of: with it as `after`, a later subscription goes on from here. */
  readonly rev: number | undefined
  end(): void
}

interface Entry {
  readonly app: number
  readonly listener: Listener
  rev: number | undefined
  /** The last request for the app, and whether it was answered: what comes until then is for who listened before. */
  request: number
  isAnswered: boolean
  readonly drafts: Drafts
}

/** A fresh token is fetched this long before the old one ends. */
const renewalMs = 60_000

/** Tokens are not asked for more often, also where each one that is given is about to end. */
const leastMs = 1_000

/** The longest time that timers can be set to. */
const longestTimerMs = 2 ** 31 - 1

/**
 * Hears what happens, across lost connections: it connects again by itself, with growing random pauses, goes on in
 * every app after the last event it has heard, and renews its token before it ends. It lives until `close`, or until
 * the server refuses it for good; what it has heard is lost with it, unless `rev` is kept.
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

  /** Listens to an app, by its id: with `after` from behind that rev, else from now on. One listener an app; a second replaces it. */
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

  /** Ends the connection for good. */
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
      // Whoever gives out tokens is away, or answered with what can be none; they are asked again after a pause.
      this.#lose(1006)
    }
  }

  #open(token: string): Connection {
    const { url, WebSocket = globalThis.WebSocket as unknown as SocketType } = this.#options
    return new Connection({
      url: `${url.replace(/^http/, 'ws').replace(/\/$/, '')}/api/realtime`,
      token,
      // An upgrade that is refused looks like a broken network; after a hello the server says what was wrong.
      saysHello: this.#failures > 0,
      Socket: WebSocket,
      onFrame: frame => this.#hear(frame),
      onClose: code => this.#lose(code),
    })
  }

  #lose(code: number): void {
    if (this.#isClosed) return
    this.#connection = null
    clearTimeout(this.#renewal)
    if (finalCodes.includes(code)) return this.#finish(code)
    // Until there is another token, whatever else goes wrong meanwhile.
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

  #hear(frame: Incoming): void {
    switch (frame.type) {
      case 'welcome':
        return this.#start(frame.user_id, frame.expires_in * 1_000)
      case 'event':
        return this.#tell(frame)
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
    // Of a short life half is used, so that there is time to try again.
    const afterMs = Math.max(leftMs - renewalMs, leftMs / 2, leastMs)
    if (afterMs < longestTimerMs) this.#renewal = setTimeout(() => void this.#renew(), afterMs)
    // A renewed token is welcomed as well; everything goes on as it was.
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

  #tell(event: RealtimeEvent): void {
    const entry = this.#answered(event.app_id)
    if (entry?.rev === undefined || event.rev <= entry.rev) return
    entry.rev = event.rev
    try {
      entry.listener.event(event)
    } catch (error) {
      // The listener's fault; nobody else is to miss anything because of it.
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

  /** Whom an answer is for; nobody where it is about a request that another one has followed. */
  #asked({ app_id, request_id }: { app_id?: number; request_id?: number }): Entry | undefined {
    const entry = app_id === undefined ? undefined : this.#entries.get(app_id)
    return entry?.request === request_id ? entry : undefined
  }

  /** Whom anything else is for; nobody where it was on its way when the subscription ended, or began anew. */
  #answered(app: number): Entry | undefined {
    const entry = this.#entries.get(app)
    return entry?.isAnswered === true ? entry : undefined
  }
}

/** HTTP answers with ids as strings of digits. A uid is none: only the server knows whose it is. */
function toAppId(id: number | string): number {
  const app = Number(id)
  if (Number.isSafeInteger(app) && app > 0) return app
  throw new TypeError(`subscribe takes the id of an app, as GET /api/apps/{app} gives it; ${id} is none`)
}
