/** What a collection holds: anything with an id that grows with time. */
export interface Entity {
  id: number
}

interface Known<Item> {
  item: Item
  /** All events about the item up to this rev are in it. */
  rev: number
}

/** Ids of which a reading was newer than the events that have arrived. */
interface Ahead {
  low: number
  high: number
  rev: number
}

/** A page of a list as the server gave it. */
export interface Page<Item> {
  items: readonly Item[]
  /** All events up to this rev are in it, and perhaps some after it. */
  rev: number
  /** False where these are the last ones. */
  hasMore: boolean
}

/**
 * What the log says of a list: the newest items, in the order of their ids, after all events that have been applied. Own
 * writes that are not settled are no part of it. Everything that comes in carries a rev, and what is older than what is
 * known already changes nothing.
 */
export class Items<Item extends Entity> {
  #known: Known<Item>[] = []
  /** All items with this id and higher ones are known. */
  #low = Infinity
  #ahead: Ahead[] = []

  get hasMore(): boolean {
    return this.#low > 0
  }

  get size(): number {
    return this.#known.length
  }

  /** The lowest id known. */
  get first(): number | undefined {
    return this.#known[0]?.item.id
  }

  /** The highest id known. */
  get last(): number | undefined {
    return this.#known.at(-1)?.item.id
  }

  get(id: number): Item | undefined {
    const found = this.#known[this.#placeOf(id)]
    return found?.item.id === id ? found.item : undefined
  }

  list(): Item[] {
    return this.#known.map(({ item }) => item)
  }

  /** The rev up to which everything about an item is known, beside the events that have arrived. */
  revOf(id: number): number {
    const found = this.#known[this.#placeOf(id)]
    const rev = found?.item.id === id ? found.rev : 0
    return this.#ahead.reduce((most, { low, high, rev }) => (low <= id && id < high ? Math.max(most, rev) : most), rev)
  }

  /** Takes over the newest page in place of everything known. */
  replace({ items, rev, hasMore }: Page<Item>): void {
    this.#known = toKnown(items, rev)
    this.#low = hasMore ? (this.first ?? Infinity) : 0
    this.#ahead = [{ low: this.#low, high: Infinity, rev }]
  }

  /** Adds the page before. The one given may overlap with what is known. */
  extend({ items, rev, hasMore }: Page<Item>): void {
    const high = this.#low
    const older = toKnown(items, rev).filter(({ item }) => item.id < high)
    this.#known = [...older, ...this.#known]
    this.#low = hasMore ? Math.min(high, older[0]?.item.id ?? high) : 0
    this.#ahead.push({ low: this.#low, high, rev })
  }

  /**
   * Applies what an event or a reading of `rev` says of one item. `change` returns what the item is then: null where it is
   * gone, undefined where nothing changes. True where something has changed.
   */
  apply(id: number, rev: number, change: (item: Item | undefined) => Item | null | undefined): boolean {
    if (id < this.#low || rev <= this.revOf(id)) return false
    const place = this.#placeOf(id)
    const found = this.#known[place]?.item.id === id ? this.#known[place] : undefined
    const item = change(found?.item)
    if (item === undefined || (item === null && found === undefined)) return false
    if (item === null) this.#known.splice(place, 1)
    else this.#known.splice(place, found === undefined ? 0 : 1, { item, rev })
    return true
  }

  /** Forgets what only mattered until the events up to `rev` had arrived. */
  settle(rev: number): void {
    if (this.#ahead.length > 0) this.#ahead = this.#ahead.filter(ahead => ahead.rev > rev)
  }

  /** Where the item is, or would be. */
  #placeOf(id: number): number {
    let [low, high] = [0, this.#known.length]
    // Nearly everything that happens concerns the newest items.
    if (high > 0 && this.#known[high - 1]!.item.id < id) return high
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#known[middle]!.item.id < id) low = middle + 1
      else high = middle
    }
    return low
  }
}

function toKnown<Item extends Entity>(items: readonly Item[], rev: number): Known<Item>[] {
  return items.map(item => ({ item, rev })).sort((a, b) => a.item.id - b.item.id)
}
