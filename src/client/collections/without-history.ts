import { LiveCollection, type Condition } from '../store/collection.ts'
import type { Feed, View } from '../store/feed.ts'

/** What is shown of an app while it lasts, and has no history: after a cut there is none of it until the next frames. */
export abstract class WithoutHistory<Row> extends LiveCollection<readonly Row[]> implements View {
  protected readonly feed: Feed
  /** How long a row is shown after the last frame about it: the one that ends it may be lost. */
  readonly #endsAfterMs: number
  readonly #rows = new Map<number, { row: Row; end: ReturnType<typeof setTimeout> }>()
  #data: readonly Row[] | undefined

  constructor(feed: Feed, endsAfterMs: number) {
    super()
    this.feed = feed
    this.#endsAfterMs = endsAfterMs
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
    return (this.#data ??= Array.from(this.#rows.values(), ({ row }) => row))
  }

  protected condition(): Condition {
    const { state, reason, error, isAnswered } = this.feed
    if (isAnswered) return { status: 'live' }
    return { status: state === 'ended' ? 'ended' : state === 'loading' ? 'loading' : 'stale', reason, error }
  }

  protected row(id: number): Row | undefined {
    return this.#rows.get(id)?.row
  }

  /** Shows a row, for a while. */
  protected put(id: number, row: Row): void {
    clearTimeout(this.#rows.get(id)?.end)
    const isNew = this.#rows.get(id)?.row !== row
    this.#rows.set(id, { row, end: setTimeout(() => this.remove(id), this.#endsAfterMs) })
    if (isNew) this.#change()
  }

  protected remove(id: number): void {
    clearTimeout(this.#rows.get(id)?.end)
    if (this.#rows.delete(id)) this.#change()
  }

  protected clear(): void {
    for (const id of this.#rows.keys()) this.remove(id)
  }

  #change(): void {
    this.#data = undefined
    this.changed()
  }
}
