import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AppEvent } from '../../actors/event.ts'
import type { AppState } from '../../actors/state.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { current, reset } from '../frames.ts'
import type { History } from './history.ts'
import { hubName, isOwn, type Form, type Frame } from '../protocol.ts'
import type { Subscription } from './subscription.ts'
import { Tail, type Tails } from './tail.ts'

/** Hands bytes to every socket that has joined a topic. */
export type Publish = (topic: string, bytes: Uint8Array, isBinary: boolean) => void

export interface ChannelParts {
  history: History
  tails: Tails
  publish: Publish
  clock: Clock
  log: Log
  /** Told when the channel has moved on, for those who wait for it. */
  moved: (channel: Channel) => void
}

/** Those of an app's subscribers that share a form. */
interface Audience {
  readonly form: Form
  size: number
  tail: Tail
}

/** How many events are read from the log at once. A guess: a few hundred kilobytes of typical ones. */
const pageSize = 200

/** Events that wait while older ones are read; more are forgotten here and read from the log in their turn. */
const waitingLimit = 1_000

/** After this many events that nobody is told of, clients hear how far they are, so that they need not resume far back. */
const hiddenLimit = 100

/** After these, what was told of an item is not what is to be shown any more: who comes back is told from the log. */
const changing = /^(message|post|comment|file)_(updated|deleted)$/

/** Those who are told something of their own before others have their turn. A guess. */
const portion = 25

const retryMs = 1_000

/**
 * One app with subscribers on this node: tells every event exactly once and in order, each encoded once for each form
 * that somebody listens in. Opened by the first subscriber, closed by the last; in between the app is pinned in
 * memory. Where the events it hears have a gap it reads the missing ones from the log; if the process dies, nothing
 * is lost that the log does not have.
 */
export class Channel {
  readonly app: number
  readonly subscriptions = new Set<Subscription>()
  /** Those who have seen more than this channel; see `Replays`. */
  readonly early = new Set<Subscription>()
  readonly #parts: ChannelParts
  readonly #begin: (channel: Channel) => Promise<void>
  readonly #audiences = new Map<Form, Audience>()
  #opening: Promise<void> | undefined
  #state: AppState | undefined
  #unpin: (() => void) | undefined
  #waiting: AppEvent[] = []
  #sent = 0
  #told = 0
  #hidden = 0
  #changes = 0
  #isBusy = false
  #isClosed = false

  /** `begin` pins the app and then calls `start`; it rejects with 404 for an app that does not exist. */
  constructor(app: number, begin: (channel: Channel) => Promise<void>, parts: ChannelParts) {
    this.app = app
    this.#parts = parts
    this.#begin = begin
  }

  /** Resolves when the channel is open; rejects if it cannot be opened, which whoever comes next may try again. */
  async open(): Promise<void> {
    if (this.isOpen) return
    this.#opening ??= this.#begin(this).finally(() => {
      this.#opening = undefined
    })
    await this.#opening
  }

  /** From now on events are told, those after the state's head first. */
  start(state: AppState, unpin: () => void): void {
    if (this.#isClosed) return unpin()
    this.#unpin = unpin
    this.#state = state
    this.#sent = state.app.head_rev
    this.#told = this.#sent
  }

  get isOpen(): boolean {
    return this.#state !== undefined && !this.#isClosed
  }

  /** The newest rev that live subscribers have been told of, or that was passed over. */
  get sent(): number {
    return this.#sent
  }

  /** How often live subscribers were told that something is no longer what it was. */
  get changes(): number {
    return this.#changes
  }

  /** What the app was when events were last heard. */
  get state(): AppState {
    if (this.#state === undefined) throw new Error('The channel is not open yet')
    return this.#state
  }

  isHeard(form: Form): boolean {
    return this.#audiences.has(form)
  }

  /** The newest events in a form that somebody listens in. */
  tail(form: Form): Tail {
    const audience = this.#audiences.get(form)
    if (audience === undefined) throw new Error('Nobody listens in this form')
    return audience.tail
  }

  /** Counts somebody who wants to hear in a form, live or soon. */
  admit(form: Form): void {
    const audience = this.#audiences.get(form)
    if (audience !== undefined) audience.size++
    else this.#audiences.set(form, { form, size: 1, tail: new Tail(this.#sent) })
  }

  dismiss(form: Form): void {
    const audience = this.#audiences.get(form)
    if (audience === undefined || --audience.size > 0) return
    this.#audiences.delete(form)
    this.#parts.tails.drop(audience.tail)
  }

  close(): void {
    this.#isClosed = true
    this.#unpin?.()
  }

  /** Takes committed events, new or not; and the state that they led to, which may be ahead of them. */
  hear(events: readonly AppEvent[], state: AppState): void {
    if (!this.isOpen) return
    this.#state = state
    for (const event of events) if (event.rev > this.#sent) this.#waiting.push(event)
    if (this.#waiting.length > waitingLimit) this.#waiting = []
    if (!this.#isBusy) this.#advance()
  }

  /** Tells live subscribers something that is not part of the history. */
  mention(frame: Frame): void {
    for (const { form } of this.#audiences.values()) {
      const bytes = form.encode(frame)
      if (bytes !== null) this.#parts.publish(form.topic(this.app, frame.type), bytes, form.isBinary)
    }
  }

  /** The usual way: everything is in memory, and told in the same tick. */
  #advance(): void {
    const { history } = this.#parts
    const waiting = this.#waiting
    let at = 0
    for (; at < waiting.length; at++) {
      const event = waiting[at]!
      if (event.rev > this.#sent && (event.prev > this.#sent || !history.hasNames(event))) break
      this.#tell(event)
    }
    this.#waiting = at === waiting.length ? [] : waiting.slice(at)
    if (this.#isBehind) void this.#catchUp()
    else this.#parts.moved(this)
  }

  get #isBehind(): boolean {
    return this.isOpen && (this.#waiting.length > 0 || this.#state!.app.head_rev > this.#sent)
  }

  /** Reads what is missing, events or names, until nothing is. Never rejects. */
  async #catchUp(): Promise<void> {
    const { clock, log, moved } = this.#parts
    this.#isBusy = true
    try {
      while (this.#isBehind) {
        await this.#readOn()
        moved(this)
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
      // Taken out before waiting for anything: should that fail, the log still has them.
      const events = this.#waiting.splice(0, pageSize)
      await history.loadNames(events)
      for (const event of events) if (event.prev <= this.#sent) this.#tell(event)
      return
    }
    if (next === undefined && this.#state!.app.head_rev <= sent) return
    const events = await history.read(this.app, sent, pageSize)
    if (events.length === 0 || events[0]!.prev > sent) return this.#skip()
    for (const event of events) this.#tell(event)
  }

  #tell(event: AppEvent): void {
    if (event.rev <= this.#sent || !this.isOpen) return
    const { history, tails, publish } = this.#parts
    const frame = history.toFrame(event, this.#told, this.#state!)
    this.#sent = event.rev
    if (frame === null) {
      if (++this.#hidden % hiddenLimit === 0) this.mention(current(this.app, this.#sent))
      return
    }
    this.#told = event.rev
    this.#hidden = 0
    const isPast = changing.test(event.type)
    if (isPast) this.#changes++
    for (const { form, tail } of this.#audiences.values()) {
      const bytes = history.encode(form, event, frame)
      if (bytes === null) continue
      const topic = form.topic(this.app, frame[hubName] ?? event.type)
      tails.push(tail, { rev: event.rev, topic, bytes })
      publish(topic, bytes, form.isBinary)
      // With this event: of what went to the trash, only those who are there are told what it was.
      if (isPast) tails.drop(tail)
    }
    if (frame[isOwn]) void this.#tellEach(event)
  }

  /** Tells those who are to be told what they see. Never rejects; whoever is not live in this moment goes without. */
  async #tellEach(event: AppEvent): Promise<void> {
    const { history, log } = this.#parts
    let told = 0
    try {
      await history.loadOwnNames(event, this.state)
      for (const { session, stage, topics } of this.subscriptions) {
        const { user, form } = session
        if (stage !== 'live' || user === undefined || !form.isOwn) continue
        if (!topics.includes(form.topic(this.app, event.type))) continue
        const frame = history.toOwnFrame(event, this.state, user)
        const bytes = frame && history.encode(form, event, frame)
        if (bytes !== null) session.sendBytes(bytes)
        if (++told % portion === 0) await nextTurn()
      }
    } catch (error) {
      log.warn({ app: this.app, error }, 'Some could not be told of an event')
    }
  }

  /** What came between is no longer in the log: this node was away for longer than the log is kept. */
  #skip(): void {
    this.#sent = this.#waiting[0]?.prev ?? this.#state!.app.head_rev
    this.#told = this.#sent
    this.#parts.log.warn({ app: this.app, rev: this.#sent }, 'Events were dropped before subscribers heard of them')
    for (const audience of this.#audiences.values()) {
      this.#parts.tails.drop(audience.tail)
      audience.tail = new Tail(this.#sent)
    }
    this.mention(reset(this.app, this.#sent))
  }
}
