import { toParleyError } from '../http/error.ts'
import type { Query } from '../http/http.ts'
import type { AppSnapshot, RealtimeEvent } from '../connection/frames.ts'
import { LiveCollection, type Condition } from '../store/collection.ts'
import type { Feed, View } from '../store/feed.ts'
import type { ClientParts } from './item-collection.ts'
import { Readings } from './readings.ts'

/** A collection of one app that is not a list of items: what it is made of, and when it is loaded. */
export abstract class AppView<Data> extends LiveCollection<Data> implements View {
  protected readonly parts: ClientParts
  protected readonly feed: Feed
  /** The rev up to which events are in what was loaded; undefined where nothing is. */
  protected loadedRev: number | undefined
  #isLoading = false
  #isOld = false
  readonly #readings: Readings

  constructor(parts: ClientParts, feed: Feed) {
    super()
    this.parts = parts
    this.feed = feed
    this.#readings = new Readings({
      http: parts.http,
      feed,
      apply: event => this.apply(event),
      onRetry: () => this.changed(),
    })
    feed.views.add(this)
  }

  /** Takes over the app as it is at a rev; false where that says nothing about this. */
  protected abstract takeSnapshot(snapshot: AppSnapshot): boolean
  /** Reads what the snapshot does not say, or said when nothing was subscribed here. */
  protected abstract load(): Promise<void>
  protected abstract apply(event: RealtimeEvent): void

  protected holdFeed(): () => void {
    return this.feed.hold()
  }

  event(event: RealtimeEvent): void {
    this.#readings.hear(event)
    if (this.loadedRev !== undefined && event.rev > this.loadedRev) this.apply(event)
  }

  snapshot(snapshot: AppSnapshot, rev: number): void {
    this.#readings.restart()
    this.#readings.error = undefined
    this.loadedRev = this.takeSnapshot(snapshot) ? rev : undefined
    this.changed()
  }

  moved(): void {
    const isWanted = this.loadedRev === undefined || (this.#isOld && this.feed.state === 'live')
    const mayLoad = this.isSubscribed && !this.#isLoading && this.#readings.error === undefined
    if (this.feed.isAnswered && isWanted && mayLoad) void this.#load()
    this.changed()
  }

  /** Reads it once more, as soon as the history is caught up with. */
  protected loadAgain(): void {
    this.#isOld = true
  }

  protected start(): () => void {
    this.#readings.error = undefined
    const stop = this.holdFeed()
    this.moved()
    return stop
  }

  protected condition(): Condition {
    const { state, reason, rev, error } = this.feed
    if (state === 'ended') return { status: 'ended', reason, error, rev }
    const trouble = this.#readings.error ?? error ?? this.parts.trouble()
    if (this.loadedRev === undefined && rev === undefined) return { status: 'loading', error: trouble, rev }
    if (this.loadedRev === undefined) return { status: 'loading', reason, error: trouble, rev }
    return state === 'live'
      ? { status: 'live', error: this.#readings.error, rev }
      : { status: 'stale', reason, error: trouble, rev }
  }

  /** Reads something of the app, and applies what has happened since to what `take` makes of it. */
  protected async read<Body>(path: string, query: Query, take: (body: Body, rev: number) => void): Promise<void> {
    await this.#readings.read<Body>(path, query, ({ body }, rev) => take(body, rev))
    this.changed()
  }

  async #load(): Promise<void> {
    this.#isLoading = true
    this.#isOld = false
    try {
      await this.load()
    } catch (error) {
      this.#readings.error = toParleyError(error)
    }
    this.#isLoading = false
    this.changed()
  }
}
