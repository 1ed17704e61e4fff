/** A row of content made directly in an app. */
export interface Item {
  readonly id: number
  readonly text?: string | null
}

/** How many of an app's newest items are kept in memory: four default pages. */
export const recentLimit = 100

/** Long texts count against the number of items kept, so that one app cannot hold megabytes. A guess. */
const recentBytes = 256 * 1024

/** The newest visible items of an app, oldest first. */
export class Recent {
  #items: Item[]
  #isWhole: boolean
  cost = 0

  /** `isWhole`: these are all the visible items that the app has. */
  constructor(items: Item[], isWhole: boolean) {
    this.#items = items
    this.#isWhole = isWhole
    for (const item of items) this.cost += costOf(item)
    this.#trim()
  }

  /** Oldest first; do not change. */
  get items(): readonly Item[] {
    return this.#items
  }

  /** True when these are all the visible items of the app. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  find(id: number): Item | undefined {
    const at = this.#position(id)
    return this.#items[at]?.id === id ? this.#items[at] : undefined
  }

  /** Adds an item or replaces it. One older than everything kept is left out, unless all are kept. */
  put(item: Item): void {
    const at = this.#position(item.id)
    const before = this.#items[at]
    if (before?.id === item.id) {
      this.cost += costOf(item) - costOf(before)
      this.#items[at] = item
    } else if (at > 0 || this.#isWhole) {
      this.cost += costOf(item)
      this.#items.splice(at, 0, item)
    }
    this.#trim()
  }

  drop(id: number): void {
    const at = this.#position(id)
    const item = this.#items[at]
    if (item?.id !== id) return
    this.cost -= costOf(item)
    this.#items.splice(at, 1)
  }

  /** Where an id is or would be; newest first is tried first, because nearly everything is new. */
  #position(id: number): number {
    let at = this.#items.length
    while (at > 0 && this.#items[at - 1]!.id >= id) at--
    return at
  }

  #trim(): void {
    // Twice the limit before anything is cut: cutting an array from the front for each new item would copy it.
    if (this.#items.length < recentLimit * 2 && this.cost < recentBytes) return
    let keep = Math.min(recentLimit, this.#items.length)
    let cost = 0
    for (let i = 1; i <= keep; i++) {
      cost += costOf(this.#items[this.#items.length - i]!)
      if (cost > recentBytes / 2) keep = i
    }
    if (keep === this.#items.length) return
    this.#items = this.#items.slice(-keep)
    this.cost = this.#items.reduce((sum, item) => sum + costOf(item), 0)
    this.#isWhole = false
  }
}

/** Source, HTML and plain text are kept, in two-byte characters at worst. */
function costOf(item: Item): number {
  return 500 + (item.text?.length ?? 0) * 6
}
