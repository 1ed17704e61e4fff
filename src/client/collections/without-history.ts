import { LiveCollection, type Condition } from '../store/collection.ts'
import type { Feed, View } from '../store/feed.ts'

/** What is shown of an app while it lasts, and has no history: after a cut there is none of it until the next frames. */
export abstract class WithoutHistory<Row> extends LiveCollection<readonly Row[]> implements View {
  protected readonly feed: Feed
  #rows: readonly Row[] = []

  constructor(feed: Feed) {
    super()
    this.feed = feed
    feed.views.add(this)
  }

  moved(): void {
    if (!this.feed.isAnswered) this.clear()
    this.changed()
  }

  protected start(): () => void {
    return this.feed.hold()
  }

  protected data(): readonly Row[] {
    return this.#rows
  }

  protected condition(): Condition {
    const { state, reason, error, isAnswered } = this.feed
    if (isAnswered) return { status: 'live' }
    return { status: state === 'ended' ? 'ended' : state === 'loading' ? 'loading' : 'stale', reason, error }
  }

  protected clear(): void {
    if (this.#rows.length > 0) this.set([])
  }

  protected set(rows: readonly Row[]): void {
    this.#rows = rows
    this.changed()
  }
}
