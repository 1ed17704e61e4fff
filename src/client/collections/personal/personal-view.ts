import { toParleyError, type ParleyError } from '../../http/error.ts'
import type { Query } from '../../http/http.ts'
import type { PersonalFrame } from '../../connection/frames.ts'
import type { Client } from '../../client.ts'
import { LiveCollection, type Condition } from '../../store/collection.ts'

/** How long after a failure it is read again. */
export const againMs = 5_000

interface ListBody<Item> {
  data?: Item[]
  end?: number
  count: number
}

/**
 * A collection of the user's, whichever app: its frames have no history, so that it is loaded after each welcome. What
 * comes while that is under way wins over what is loaded.
 */
export abstract class PersonalView<Data> extends LiveCollection<Data> {
  protected readonly client: Client
  #isLoaded = false
  #isLive = false
  #error: ParleyError | undefined
  #loading: Promise<void> | undefined
  /** Of the connection and of reloads: what was asked for before is dropped. */
  #generation = 0

  constructor(client: Client) {
    super()
    this.client = client
  }

  /** Reads everything. What it returns takes that over, if it is not out of date by then. */
  protected abstract read(): Promise<() => void>
  protected abstract hear(frame: PersonalFrame): void

  /** Reads a list page by page, until there are as many items as wanted. */
  protected async readPages<Item>(path: string, query: Query, wanted = Infinity) {
    const items: Item[] = []
    let hasMore = true
    while (hasMore && items.length < wanted) {
      const page = { ...query, skip: items.length }
      const { data = [], end = 0, count } = await this.client.http.request<ListBody<Item>>('GET', path, { query: page })
      items.push(...data)
      hasMore = data.length > 0 && end < count
    }
    return { items, hasMore }
  }

  /** Reads everything again. */
  protected reload(): void {
    this.#generation++
    this.#loading ??= this.#load().finally(() => (this.#loading = undefined))
  }

  protected get isLoading(): boolean {
    return this.#loading !== undefined
  }

  protected start(): () => void {
    const { connection, feeds } = this.client
    const stop = feeds.listen({
      opened: () => this.reload(),
      lost: () => {
        this.#isLive = false
        this.changed()
      },
      frame: frame => this.hear(frame),
    })
    const release = connection.hold()
    if (connection.isOpen) this.reload()
    return () => {
      stop()
      release()
      this.#isLive = false
    }
  }

  protected condition(): Condition {
    const error = this.#error ?? this.client.trouble()
    const { state } = this.client.connection.status
    if (state === 'closed') return { status: 'ended', reason: 'closed', error }
    if (this.#isLive) return { status: 'live' }
    if (!this.#isLoaded) return { status: 'loading', error }
    return { status: 'stale', reason: state === 'connected' ? 'loading' : 'offline', error }
  }

  async #load(): Promise<void> {
    let generation: number
    do {
      generation = this.#generation
      try {
        const takeOver = await this.read()
        if (generation !== this.#generation) continue
        takeOver()
        this.#isLoaded = true
        this.#isLive = this.client.connection.isOpen
        this.#error = undefined
      } catch (error) {
        this.#error = toParleyError(error)
        setTimeout(() => {
          if (this.isSubscribed && this.client.connection.isOpen && !this.#isLive) this.reload()
        }, againMs)
      }
      this.changed()
    } while (generation !== this.#generation)
  }
}
