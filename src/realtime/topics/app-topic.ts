import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Apps } from '../../engine/apps.ts'
import type { AppEvent } from '../../engine/event.ts'
import type { AppState } from '../../engine/state.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { current, reset } from '../protocols/frames.ts'
import { ownKeyOf, type History } from './history.ts'
import { hubName, perUser, type Codec, type Frame } from '../protocols/protocol.ts'
import type { Session } from '../sessions/session.ts'
import type { Subscription } from './subscription.ts'
import { ReplayBuffer, type OwnKey, type ReplayBuffers } from './replay-buffer.ts'

/** Sends bytes to every socket that has subscribed to a topic. */
export type Publish = (topic: string, bytes: Uint8Array, isBinary: boolean) => void

export interface AppTopicParts {
  apps: Pick<Apps, 'peek' | 'pin' | 'state'>
  history: History
  buffers: ReplayBuffers
  publish: Publish
  /** The open sessions of a user on this node. */
  sessionsOf: (user: number) => Iterable<Session>
  clock: Clock
  log: Log
  /** Called when the topic has advanced, for subscriptions that are ahead of it. */
  onAdvance: (appTopic: AppTopic) => void
}

/** The subscribers of an app with one codec. */
interface Audience {
  readonly codec: Codec
  size: number
  buffer: ReplayBuffer
}

/** The most events of one read of the log. A guess: a few hundred kilobytes of typical ones. */
const pageSize = 200

/** The most events that wait while older ones are read; further ones are dropped, and read from the log later. */
const waitingLimit = 1_000

/** After this many events that are not sent, clients get the current rev, so that they need not resume far back. */
const hiddenLimit = 100

/**
 * After such an event, older versions of the item must not be shown any more: replays read the log instead of the
 * buffer.
 */
const changing = /^(message|post|comment|file)_(updated|deleted)$/

/** The most users that are sent a frame of their own before the event loop is yielded. A guess. */
const usersPerTurn = 25

const retryMs = 1_000

/**
 * An app with subscribers on this node: publishes every event exactly once and in order, encoded once for each codec in
 * use. Opened by the first subscriber, closed by the last; meanwhile the app is pinned in memory. Gaps between
 * committed events are read from the log; if the process dies, no event is lost that the log has.
 */
export class AppTopic {
  readonly app: number
  readonly subscriptions = new Set<Subscription>()
  /** Subscriptions whose clients are ahead of this node; see `Replays`. */
  readonly early = new Set<Subscription>()
  readonly #parts: AppTopicParts
  readonly #audiences = new Map<Codec, Audience>()
  #opening: Promise<void> | undefined
  #state: AppState | undefined
  #unpin: (() => void) | undefined
  #waiting: AppEvent[] = []
  #sent = 0
  #lastVisible = 0
  #hidden = 0
  #changes = 0
  #isBusy = false
  #isClosed = false

  constructor(app: number, parts: AppTopicParts) {
    this.app = app
    this.#parts = parts
  }

  /**
   * Pins the app, and publishes its events from then on. Rejects where it cannot be opened, with 404 for an app that
   * does not exist; it may then be called again.
   */
  async open(): Promise<void> {
    if (this.isOpen) return
    this.#opening ??= this.#pin().finally(() => {
      this.#opening = undefined
    })
    await this.#opening
  }

  async #pin(): Promise<void> {
    const { apps } = this.#parts
    const unpin = await apps.pin(this.app)
    try {
      while (apps.peek(this.app) === undefined) await apps.state(this.app)
    } catch (error) {
      unpin()
      throw error
    }
    if (this.#isClosed) return unpin()
    this.#unpin = unpin
    this.#state = apps.peek(this.app)!
    this.#sent = this.#state.app.head_rev
    this.#lastVisible = this.#sent
  }

  get isOpen(): boolean {
    return this.#state !== undefined && !this.#isClosed
  }

  /** The newest rev that was published or skipped. */
  get sent(): number {
    return this.#sent
  }

  /** The number of published events that made earlier ones outdated. */
  get changes(): number {
    return this.#changes
  }

  /** The state of the app after the last commit. */
  get state(): AppState {
    if (this.#state === undefined) throw new Error('The topic is not open yet')
    return this.#state
  }

  hasListeners(codec: Codec): boolean {
    return this.#audiences.has(codec)
  }

  /** The newest events, encoded by a codec in use. */
  buffer(codec: Codec): ReplayBuffer {
    const audience = this.#audiences.get(codec)
    if (audience === undefined) throw new Error('This codec has no listeners')
    return audience.buffer
  }

  /** Counts a subscriber with a codec, live or soon. */
  addListener(codec: Codec): void {
    const audience = this.#audiences.get(codec)
    if (audience !== undefined) audience.size++
    else this.#audiences.set(codec, { codec, size: 1, buffer: new ReplayBuffer(this.#sent) })
  }

  removeListener(codec: Codec): void {
    const audience = this.#audiences.get(codec)
    if (audience === undefined || --audience.size > 0) return
    this.#audiences.delete(codec)
    this.#parts.buffers.drop(audience.buffer)
  }

  close(): void {
    this.#isClosed = true
    this.#unpin?.()
  }

  /** Handles committed events, known or new, and the resulting state, which may be ahead of them. */
  onCommit(events: readonly AppEvent[], state: AppState): void {
    if (!this.isOpen) return
    this.#state = state
    for (const event of events) if (event.rev > this.#sent) this.#waiting.push(event)
    if (this.#waiting.length > waitingLimit) this.#waiting = []
    if (!this.#isBusy) this.#advance()
  }

  /** Publishes a frame without history. */
  broadcastEphemeral(frame: Frame): void {
    for (const { codec } of this.#audiences.values()) {
      const bytes = codec.encode(frame)
      if (bytes !== null) this.#parts.publish(codec.topic(this.app, frame.type), bytes, codec.isBinary)
    }
  }

  /** Publishes in this tick what needs no loading, which is the usual case. */
  #advance(): void {
    const { history } = this.#parts
    const waiting = this.#waiting
    let at = 0
    for (; at < waiting.length; at++) {
      const event = waiting[at]!
      if (event.rev > this.#sent && (event.prev > this.#sent || !history.hasNames(event))) break
      this.#broadcast(event)
    }
    this.#waiting = at === waiting.length ? [] : waiting.slice(at)
    if (this.#isBehind) void this.#catchUp()
    else this.#parts.onAdvance(this)
  }

  get #isBehind(): boolean {
    return this.isOpen && (this.#waiting.length > 0 || this.#state!.app.head_rev > this.#sent)
  }

  /** Reads missing events and names until none is missing. Never rejects. */
  async #catchUp(): Promise<void> {
    const { clock, log, onAdvance } = this.#parts
    this.#isBusy = true
    try {
      while (this.#isBehind) {
        await this.#readOn()
        onAdvance(this)
      }
    } catch (error) {
      log.warn({ app: this.app, error }, 'Events for subscribers cannot be read; it is tried again')
      clock.after(retryMs, () => {
        if (!this.#isBusy && this.#isBehind) void this.#catchUp()
      })
    } finally {
      this.#isBusy = false
    }
  }

  async #readOn(): Promise<void> {
    const { history } = this.#parts
    const sent = this.#sent
    this.#waiting = this.#waiting.filter(({ rev }) => rev > sent)
    const [next] = this.#waiting
    if (next !== undefined && next.prev <= sent) {
      // Removed before anything is awaited: after a failure, the log still has them.
      const events = this.#waiting.splice(0, pageSize)
      await history.loadNames(events)
      for (const event of events) if (event.prev <= this.#sent) this.#broadcast(event)
      return
    }
    if (next === undefined && this.#state!.app.head_rev <= sent) return
    const events = await history.read(this.app, sent, pageSize)
    if (events.length === 0 || events[0]!.prev > sent) return this.#skipLost()
    for (const event of events) this.#broadcast(event)
  }

  #broadcast(event: AppEvent): void {
    if (event.rev <= this.#sent || !this.isOpen) return
    const { history, buffers, publish } = this.#parts
    const frame = history.toFrame(event, this.#lastVisible, this.#state!)
    this.#sent = event.rev
    if (frame === null) {
      if (++this.#hidden % hiddenLimit === 0) this.broadcastEphemeral(current(this.app, this.#sent))
      return
    }
    this.#lastVisible = event.rev
    this.#hidden = 0
    const isPast = changing.test(event.type)
    const own = ownKeyOf(event)
    if (isPast) this.#changes++
    for (const { codec, buffer } of this.#audiences.values()) {
      const bytes = history.encode(codec, event, frame)
      if (bytes === null) continue
      const topic = codec.topic(this.app, frame[hubName] ?? event.type)
      buffers.push(buffer, { rev: event.rev, topic, bytes, own })
      if (own === null) publish(topic, bytes, codec.isBinary)
      else this.#publishOwn(codec, topic, bytes, own)
      // From this event on, an item in the trash is shown to live subscribers only.
      if (isPast) buffers.drop(buffer)
    }
    if (frame[perUser]) void this.#sendPerUser(event)
  }

  /** Publishes an event with a key: to the sessions of the user who sent it with the key, to all others without. */
  #publishOwn(codec: Codec, topic: string, bytes: Uint8Array, { user, key }: OwnKey): void {
    const keyed = codec.withKey?.(bytes, key)
    const own: Session[] = []
    if (keyed !== undefined) {
      for (const session of this.#parts.sessionsOf(user)) {
        if (session.codec !== codec || session.subscriptions.get(this.app)?.stage !== 'live') continue
        // Sent before it leaves: this also sends what was published to it and is still gathered.
        session.sendBytes(keyed)
        session.leave(topic)
        own.push(session)
      }
    }
    this.#parts.publish(topic, bytes, codec.isBinary)
    for (const session of own) session.join(topic)
  }

  /** Sends each live subscriber its user's version of the event. Never rejects; other subscribers get nothing. */
  async #sendPerUser(event: AppEvent): Promise<void> {
    const { history, log } = this.#parts
    let count = 0
    try {
      await history.loadOwnNames(event, this.state)
      for (const { session, stage, topics } of this.subscriptions) {
        const { user, codec } = session
        if (stage !== 'live' || user === undefined || !codec.isPerUser) continue
        if (!topics.includes(codec.topic(this.app, event.type))) continue
        const frame = history.toUserFrame(event, this.state, user)
        const bytes = frame && history.encode(codec, event, frame)
        if (bytes !== null) session.sendBytes(bytes)
        if (++count % usersPerTurn === 0) await nextTurn()
      }
    } catch (error) {
      log.warn({ app: this.app, error }, 'An event could not be sent to some users')
    }
  }

  /** Skips events that are gone from the log: this node was away for longer than the log is kept. */
  #skipLost(): void {
    this.#sent = this.#waiting[0]?.prev ?? this.#state!.app.head_rev
    this.#lastVisible = this.#sent
    this.#parts.log.warn({ app: this.app, rev: this.#sent }, 'Events left the log before they were sent to subscribers')
    for (const audience of this.#audiences.values()) {
      this.#parts.buffers.drop(audience.buffer)
      audience.buffer = new ReplayBuffer(this.#sent)
    }
    this.broadcastEphemeral(reset(this.app, this.#sent))
  }
}
