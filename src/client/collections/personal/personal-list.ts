import type { Client } from '../../client.ts'
import type { Query } from '../../http/http.ts'
import type { Condition } from '../../store/collection.ts'
import { PersonalView } from './personal-view.ts'

interface Source {
  path: string
  query: Query
  /** How many items of the list come at a time. */
  pageSize: number
}

/** A list of the user's, of which the first pages are known: after a cut, as many items are read as were known before. */
export abstract class PersonalList<Item extends { id: number }> extends PersonalView<readonly Item[]> {
  protected known = new Map<number, Item>()
  readonly #source: Source
  #wanted: number
  #hasMore = false
  #more: Promise<void> | undefined
  #data: readonly Item[] | undefined

  constructor(client: Client, source: Source) {
    super(client)
    this.#source = source
    this.#wanted = source.pageSize
  }

  override loadMore = (): Promise<void> => {
    if (!this.#hasMore) return Promise.resolve()
    this.#wanted += this.#source.pageSize
    this.#more ??= this.read()
      .then(takeOver => takeOver())
      .finally(() => {
        this.#more = undefined
        this.changed()
      })
    this.changed()
    return this.#more
  }

  /** The items in the order in which they are shown, with own writes on top. */
  protected abstract show(items: Item[]): readonly Item[]
  /** What is known once the list was read, with what was said meanwhile. */
  protected abstract takeOver(read: readonly Item[]): Map<number, Item>

  protected data(): readonly Item[] {
    this.#data ??= this.show(Array.from(this.known.values()))
    return this.#data
  }

  protected override condition(): Condition {
    return { ...super.condition(), hasMore: this.#hasMore, isLoadingMore: this.#more !== undefined }
  }

  protected async read(): Promise<() => void> {
    const { path, query, pageSize } = this.#source
    const { items, hasMore } = await this.readPages<Item>(path, { ...query, take: pageSize }, this.#wanted)
    return () => {
      this.known = this.takeOver(items)
      this.#hasMore = hasMore
      this.change()
    }
  }

  /** What is known has changed. */
  protected change(): void {
    this.#data = undefined
    this.changed()
  }
}
