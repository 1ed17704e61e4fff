import type { Page } from '../../../api/page.ts'
import type { OrderField } from '../store.ts'
import type { Range } from './by-id.ts'
import { hasTerms } from './search.ts'

/** An order in which the position of every item of a place follows from what is kept. */
export interface Walk {
  by: 'id' | 'update'
  descending: boolean
  /** What has the same time follows the other way round by id: `created_at desc,id`. */
  isCrossed: boolean
}

/**
 * How a page is walked to; null where something filters, and for orders that nothing is kept for. What is made later
 * in an app has a larger id and no earlier time, so `created_at` is the order by id, but for the ids of one moment.
 */
export function toWalk(page: Page<OrderField>, { after, before }: Range): Walk | null {
  const [key, next] = page.order
  if (key === undefined || hasTerms(page)) return null
  const { field, descending } = key
  if (field === 'id') return { by: 'id', descending, isCrossed: false }
  if (next?.field !== 'id') return null
  const isCrossed = next.descending !== descending
  if (field === 'created_at') return { by: 'id', descending, isCrossed }
  return after === undefined && before === undefined ? { by: 'update', descending, isCrossed } : null
}
