import { LRUCache } from 'lru-cache'
import type { Principal } from '../../../../auth/principal.ts'
import type { AppRow, AppState } from '../../../../engine/state.ts'
import type { Representation } from '../../../../http/route.ts'
import { Encoded } from '../../../../api/json.ts'
import { isSubscribed } from '../../../apps/represent.ts'
import type { ContentEntity } from '../../kind.ts'
import type { ContentListing } from '../../schema.ts'

/** Memory for all of them. A guess: some 2,000 usual pages. */
const budgetBytes = 16 * 1024 * 1024

/** Larger ones are not kept: they would push out many that are asked for as often. */
const largestBytes = 64 * 1024

/** Of an `order_by`: clients can write the same order in any number of ways. */
const longestOrder = 64

/** What an entry takes beside its page. */
const entryBytes = 512

interface KeptPage {
  /** The row that the app had then; every change of an app, or in it, makes another one. */
  app: AppRow
  page: Encoded
}

interface Asked {
  query: ContentListing
  by: Principal
  representation: Representation
}

/**
 * Pages as they went out, for whoever asks next: a room that many open is written once for each change in it. Only
 * those that everybody sees alike who is subscribed to the app, or who is not. The longest unasked go first.
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

/** What tells the pages of an app from each other; null where a page may be different for everybody. */
export function keyOf(entity: ContentEntity, state: AppState, { query, by, representation }: Asked): string | null {
  const { order_by = '', skip = 0, take = 25, ...others } = query
  if (entity === 'post' || representation.items !== 'summary' || order_by.length > longestOrder) return null
  for (const name in others) if (others[name as keyof typeof others] !== undefined) return null
  if (by.kind === 'user' && state.member(by.user)?.hidden_id) return null
  const isMine = by.kind === 'user' && isSubscribed(state, by.user)
  return `${state.app.id} ${entity} ${order_by} ${skip} ${take} ${representation.scalars} ${isMine}`
}
