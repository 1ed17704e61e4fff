import { LRUCache } from 'lru-cache'
import type { AppRow, AppState } from '../../../engine/state.ts'
import { Encoded } from '../../../api/json.ts'
import { isSubscribed } from '../../apps/represent.ts'
import type { ContentEntity } from '../kind.ts'
import type { Served } from '../../route.ts'
import type { ContentListing } from '../schema.ts'

/** Memory for all pages. A guess: some 2,000 usual ones. */
const budgetBytes = 16 * 1024 * 1024

/** Larger pages are not cached: they would evict many others. */
const largestBytes = 64 * 1024

/** The longest `order_by`: clients can write one order in any number of ways. */
const longestOrder = 64

/** The overhead of an entry. */
const entryBytes = 512

interface KeptPage {
  /** The app's row at that time; every change of the app, or in it, replaces the row. */
  app: AppRow
  page: Encoded
}

/**
 * Cached responses: a room that many users open is encoded once for each change in it. Only pages that are equal for
 * all subscribers of the app, or for all other readers. The least recently used are evicted first.
 */
class KeptPages {
  readonly #kept = new LRUCache<string, KeptPage>({ maxSize: budgetBytes, sizeCalculation: sizeOf })

  find(key: string, app: AppRow): Encoded | undefined {
    const kept = this.#kept.get(key)
    if (kept === undefined || kept.app === app) return kept?.page
    this.#kept.delete(key)
    return undefined
  }

  keep(key: string, app: AppRow, page: Encoded): void {
    if (page.bytes.length <= largestBytes) this.#kept.set(key, { app, page })
  }
}

function sizeOf({ page }: KeptPage): number {
  return page.bytes.length + entryBytes
}

export const keptPages = new KeptPages()

/** Identifies a page among those of the app; null where it may differ between users. */
export function keyOf(
  entity: ContentEntity,
  state: AppState,
  query: ContentListing,
  { by, representation }: Served<'by' | 'representation'>,
): string | null {
  const { order_by = '', skip = 0, take = 25, ...others } = query
  if (entity === 'post' || representation.items !== 'summary' || order_by.length > longestOrder) return null
  for (const name in others) if (others[name as keyof typeof others] !== undefined) return null
  if (by.kind === 'user' && state.member(by.user)?.hidden_id) return null
  const isMine = by.kind === 'user' && isSubscribed(state, by.user)
  return `${state.app.id} ${entity} ${order_by} ${skip} ${take} ${representation.scalars} ${isMine}`
}
