/** A row of content made directly in an app. */
export interface Item {
  readonly id: number
  readonly text?: string | null
}

/** The newest items of an app that its state keeps at least, unless their texts are long: four default pages. */
export const recentLimit = 100

/** Memory that the items of one app may occupy, by `costOf`. A guess. */
const recentBytes = 256 * 1024

/** The newest visible items of an app. */
export class Recent {
  #items: Item[]
  #isWhole: boolean
  /** An estimate of the memory that the items occupy, in bytes. */
  cost = 0

  /** `items`: oldest first. `isWhole`: the app has no other visible items. */
  constructor(items: Item[], isWhole: boolean) {
    this.#items = items
    this.#isWhole = isWhole
    for (const item of items) this.cost += costOf(item)
    this.#trim()
  }

  /** Oldest first. */
  get items(): readonly Item[] {
    return this.#items
  }

  /** True where the app has no other visible items. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  find(id: number): Item | undefined {
    const at = this.#position(id)
    return this.#items[at]?.id === id ? this.#items[at] : undefined
  }

  /** Adds or replaces an item. An item older than all others here is not added, unless `isWhole`. */
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

  /** The index of an id, or where it would be inserted. Searched from the end: nearly every change is of a new item. */
  #position(id: number): number {
    let at = this.#items.length
    while (at > 0 && this.#items[at - 1]!.id >= id) at--
    return at
  }

  #trim(): void {
    // Grows to twice the limit before it is cut: removing the first element for each new item would copy the array.
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

/** An estimate, in bytes: source, HTML and plain text of an item, in two-byte characters at worst. */
function costOf(item: Item): number {
  return 500 + (item.text?.length ?? 0) * 6
}
