import type { ParleyError } from '../http/error.ts'

export type Status =
  /** Nothing is known yet. */
  | 'loading'
  /** What is shown is what the server knows, and follows it. */
  | 'live'
  /** What is shown may be old; it becomes live again by itself. */
  | 'stale'
  /** What is shown will not change any more. */
  | 'ended'

/** The state of a collection. It never changes: what has changed is in another snapshot. */
export interface Snapshot<Data> {
  readonly data: Data
  readonly status: Status
  /** Why it is stale or ended, such as `offline`, `access-lost` or `not-found`. */
  readonly reason: string | undefined
  /** What is in the way, where something is. */
  readonly error: ParleyError | undefined
  /** True where there are older ones. */
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  /** Loads older ones. */
  readonly loadMore: () => Promise<void>
  /** The place in the app's history in which the data was last changed; undefined where it has none. */
  readonly rev: number | undefined
}

export interface Readable<Value> {
  /** The present value: one object until something has changed. */
  get(): Value
  /** Calls the listener with the present value soon, and with each one after it. Returns what ends it. */
  subscribe(listener: (value: Value) => void): () => void
}

/** Something that is kept up to date while it is subscribed to. */
export interface Collection<Data> extends Readable<Snapshot<Data>> {
  /** A part of it, whose listeners are called only when that has changed. */
  select<Value>(
    selector: (snapshot: Snapshot<Data>) => Value,
    isEqual?: (a: Value, b: Value) => boolean,
  ): Readable<Value>
}

/** What a snapshot says beside its data. */
export interface Condition {
  status: Status
  reason?: string | undefined
  error?: ParleyError | undefined
  hasMore?: boolean
  isLoadingMore?: boolean
  rev?: number | undefined
}

/** A collection: tells its listeners of changes, once for all that happen at a time. */
export abstract class LiveCollection<Data> implements Collection<Data> {
  readonly #listeners = new Set<Listener<Data>>()
  #snapshot: Snapshot<Data> | undefined
  #isChanged = true
  #isTelling = false
  #stop: (() => void) | undefined

  /** Starts to keep it up to date; the function returned ends that. */
  protected abstract start(): () => void
  /** What is shown now: one object while nothing has changed. */
  protected abstract data(): Data
  protected abstract condition(): Condition

  loadMore = async (): Promise<void> => {}

  get(): Snapshot<Data> {
    if (!this.#isChanged && this.#snapshot !== undefined) return this.#snapshot
    this.#isChanged = false
    const { status, reason, error, hasMore = false, isLoadingMore = false, rev } = this.condition()
    const data = this.data()
    const { loadMore } = this
    const next = { data, status, reason, error, hasMore, isLoadingMore, loadMore, rev }
    if (this.#snapshot === undefined || differ(this.#snapshot, next)) this.#snapshot = next
    return this.#snapshot
  }

  subscribe(listener: (snapshot: Snapshot<Data>) => void): () => void {
    const entry: Listener<Data> = { listener, told: undefined }
    this.#listeners.add(entry)
    if (this.#listeners.size === 1) this.#stop = this.start()
    this.#tellSoon()
    return () => {
      if (!this.#listeners.delete(entry) || this.#listeners.size > 0) return
      this.#stop?.()
      this.#stop = undefined
    }
  }

  select<Value>(
    selector: (snapshot: Snapshot<Data>) => Value,
    isEqual: (a: Value, b: Value) => boolean = Object.is,
  ): Readable<Value> {
    let last: { from: Snapshot<Data>; value: Value } | undefined
    const get = () => {
      const from = this.get()
      if (last?.from === from) return last.value
      const value = selector(from)
      last = { from, value: last !== undefined && isEqual(last.value, value) ? last.value : value }
      return last.value
    }
    return {
      get,
      subscribe: listener => {
        let told: { value: Value } | undefined
        return this.subscribe(() => {
          const value = get()
          if (told !== undefined && Object.is(told.value, value)) return
          told = { value }
          listener(value)
        })
      },
    }
  }

  protected get isSubscribed(): boolean {
    return this.#listeners.size > 0
  }

  /** To be called after each change: listeners hear of it when all that happens now has happened. */
  protected changed(): void {
    this.#isChanged = true
    if (this.#listeners.size > 0) this.#tellSoon()
  }

  #tellSoon(): void {
    if (this.#isTelling) return
    this.#isTelling = true
    queueMicrotask(() => {
      this.#isTelling = false
      const snapshot = this.get()
      for (const entry of Array.from(this.#listeners)) {
        // One that was called before may have ended it.
        if (entry.told === snapshot || !this.#listeners.has(entry)) continue
        entry.told = snapshot
        call(entry.listener, snapshot)
      }
    })
  }
}

interface Listener<Data> {
  readonly listener: (snapshot: Snapshot<Data>) => void
  told: Snapshot<Data> | undefined
}

/** The rev moves with events that concern other things as well. */
function differ<Data>(before: Snapshot<Data>, after: Snapshot<Data>): boolean {
  return (['data', 'status', 'reason', 'error', 'hasMore', 'isLoadingMore'] as const).some(
    member => before[member] !== after[member],
  )
}

/** An error of one listener must not affect the others. */
function call<Value>(listener: (value: Value) => void, value: Value): void {
  try {
    listener(value)
  } catch (error) {
    setTimeout(() => {
      throw error
    })
  }
}
