import { LRUCache } from 'lru-cache'
import type { Page } from '../../../api/page.ts'
import { fromNearerEnd, type NearWalk } from '../../../postgres/order.ts'
import type { OrderField } from '../store.ts'

/** How long a position may be reused: items that are trashed, restored or deleted meanwhile shift what follows. */
const rememberedMs = 30_000

/** The most lists, and positions in each: 2 MB at most. Guesses. */
const rememberedLists = 100
const rememberedPositions = 500

/** An item of a list, and the number of items before it; an end of the list has no id. */
interface Known {
  id: number | null
  position: number
}

/** How to walk to a page by id, from the nearest known position or from an end of the list. */
interface Walk extends NearWalk<OrderField> {
  /** Only ids between these, both excluded. */
  after?: number
  before?: number
}

/**
 * The positions of deep pages by id that were served in the last half a minute. A client that reads a list page by page
 * walks to each page from the one before it: otherwise each one in the middle of ten million items is walked to from an
 * end of the list, which takes a second.
 */
export class KnownPositions {
  readonly #lists = new LRUCache<string, ListPositions>({
    max: rememberedLists,
    ttl: rememberedMs,
    ttlResolution: 0,
  })

  /** The known positions in a list. `key` identifies the list by all that it is filtered and ordered by. */
  of(key: string): ListPositions {
    const before = this.#lists.get(key)
    if (before !== undefined) return before
    const positions = new ListPositions()
    this.#lists.set(key, positions)
    return positions
  }
}

/** The known positions in one list. They expire together, because each was counted from another one. */
class ListPositions {
  readonly #known: Known[] = []

  /** The shortest walk to a page of a list of `count` items; `page.skip` must be below `count`. */
  toWalk({ skip, take, order }: Page<OrderField>, count: number): Walk {
    const end = Math.min(skip + take, count)
    const from = this.#nearest({ id: null, position: 0 }, position => skip - position)
    const to = this.#nearest({ id: null, position: count }, position => position - end)
    const walk = fromNearerEnd({ order, skip: skip - from.position, take }, to.position - from.position)
    const { descending } = order[0]!
    if (walk.order !== order)
      return to.id === null ? walk : { ...walk, ...(descending ? { after: to.id } : { before: to.id }) }
    return from.id === null ? walk : { ...walk, ...(descending ? { before: from.id + 1 } : { after: from.id - 1 }) }
  }

  /** The known position, or the end of the list, that is the least distance away; a negative distance is the wrong way. */
  #nearest(end: Known, toDistance: (position: number) => number): Known {
    return this.#known.reduce((nearest, known) => {
      const distance = toDistance(known.position)
      return distance >= 0 && distance < toDistance(nearest.position) ? known : nearest
    }, end)
  }

  /** Adds the positions of the first and the last item of a page. */
  add(skip: number, ids: number[]): void {
    for (const at of new Set([0, ids.length - 1])) {
      const id = ids[at]
      if (id === undefined || this.#known.some(({ position }) => position === skip + at)) continue
      if (this.#known.length === rememberedPositions) this.#known.shift()
      this.#known.push({ id, position: skip + at })
    }
  }
}
