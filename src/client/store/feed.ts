import { ParleyError } from '../http/error.ts'
import type { AgentDelta, AgentRun, AppSnapshot, RealtimeEvent, Subscribed, Typing } from '../connection/frames.ts'

/** What is kept of an app: is told everything that the app's feed hears, in order. */
export interface View {
  /** An event after all that was heard before. */
  event?(event: RealtimeEvent): void
  /** The app at a rev, in place of all that was known of it. */
  snapshot?(snapshot: AppSnapshot, rev: number): void
  typing?(typing: Typing): void
  run?(run: AgentRun): void
  delta?(delta: AgentDelta): void
  /** The state of the feed has changed, or its rev has grown. */
  moved?(): void
}

export type FeedState =
  /** Nothing is subscribed. */
  | 'idle'
  /** Asked, and not answered for the first time. */
  | 'loading'
  | 'live'
  /** Cut, or not caught up yet. */
  | 'stale'
  /** The app is gone, or closed to the user. */
  | 'ended'

/** What a feed needs of the feeds of the client. */
export interface FeedHost {
  /** Asks for the feed with the next frame. */
  ask(feed: Feed): void
  unsubscribe(feed: Feed): void
  hold(): () => void
}

/** How long a subscription outlives its last holder. */
const lingerMs = 5_000

/**
 * What happens in one app, from the first holder until 5 seconds after the last one: its place in the history, and views
 * that are told each event once and in order.
 */
export class Feed {
  /** The id or uid by which the app was asked for. */
  readonly ref: string
  id: number | undefined
  uid: string | undefined
  rev: number | undefined
  epoch: string | undefined
  state: FeedState = 'idle'
  reason: string | undefined
  error: ParleyError | undefined
  /** The number of the last request, and whether it was answered: frames before belong to an earlier subscription. */
  request = 0
  isAnswered = false
  readonly views = new Set<View>()
  readonly #host: FeedHost
  #head = 0
  #holders = 0
  #linger: ReturnType<typeof setTimeout> | undefined
  #release: (() => void) | undefined

  constructor(ref: string, host: FeedHost) {
    this.ref = ref
    this.#host = host
    if (/^\d+$/.test(ref)) this.id = Number(ref)
  }

  get isHeld(): boolean {
    return this.#release !== undefined
  }

  /** True from when the work of agents is asked for until the subscription ends: it outlives its last holder as well. */
  hasAgents = false

  /** Keeps the feed going until the function returned is called. */
  hold({ agents = false } = {}): () => void {
    clearTimeout(this.#linger)
    this.#holders++
    const isNews = this.#release === undefined || this.state === 'ended' || (agents && !this.hasAgents)
    if (agents) this.hasAgents = true
    this.#release ??= this.#host.hold()
    if (isNews) this.ask()
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      if (--this.#holders === 0) this.#linger = setTimeout(() => this.#end(), lingerMs)
    }
  }

  /** Subscribes, or subscribes again from where it is. */
  ask(): void {
    this.isAnswered = false
    this.#move(this.rev === undefined ? 'loading' : 'stale', 'connecting')
    this.#host.ask(this)
  }

  lost(reason: string): void {
    this.isAnswered = false
    if (this.state === 'live' || this.state === 'stale') this.#move('stale', reason)
    else if (this.state === 'loading') this.#move('loading', reason)
  }

  subscribed({ app_id, uid, rev, head_rev, epoch, snapshot }: Subscribed): void {
    this.isAnswered = true
    this.id = app_id
    this.uid = uid ?? this.uid
    this.#head = head_rev
    if (snapshot !== undefined) {
      this.rev = rev
      this.epoch = epoch
      for (const view of this.views) view.snapshot?.(snapshot, rev)
    } else if (this.rev === undefined) {
      this.rev = rev
      this.epoch = epoch
    } else if (this.rev !== rev || (this.epoch !== undefined && this.epoch !== epoch)) return this.restart()
    this.epoch ??= epoch
    this.#arrive()
  }

  event(event: RealtimeEvent): void {
    if (!this.isAnswered || this.rev === undefined || event.rev <= this.rev) return
    if (event.prev > this.rev) return this.ask()
    this.rev = event.rev
    for (const view of this.views) view.event?.(event)
    this.#arrive()
  }

  /** Every event up to `rev` was sent. */
  current(rev: number): void {
    if (!this.isAnswered || this.rev === undefined || rev < this.rev) return
    this.rev = rev
    this.#arrive()
  }

  /** The history does not go on from here: everything is asked for anew. */
  restart(): void {
    this.rev = undefined
    this.epoch = undefined
    this.ask()
  }

  ended(reason: string, error?: ParleyError): void {
    this.isAnswered = false
    this.error = error
    this.#move('ended', reason)
  }

  #arrive(): void {
    this.error = undefined
    if (this.rev! < this.#head) this.#move('stale', 'catching-up')
    else this.#move('live', undefined)
  }

  #move(state: FeedState, reason: string | undefined): void {
    this.state = state
    this.reason = reason
    for (const view of this.views) view.moved?.()
  }

  #end(): void {
    this.#release?.()
    this.#release = undefined
    this.#host.unsubscribe(this)
    this.hasAgents = false
    this.isAnswered = false
    if (this.state !== 'ended') this.#move('idle', 'paused')
  }
}
