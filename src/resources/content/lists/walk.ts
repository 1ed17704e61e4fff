import type { Page } from '../../../api/page.ts'
import type { OrderField } from '../store.ts'
import type { Range } from './by-id.ts'
import { hasTerms } from './search.ts'

/** An order in which the position of each item of a place can be computed. */
export interface Walk {
  by: 'id' | 'update'
  descending: boolean
  /** Items of equal time are in reverse order of ids: `created_at desc,id`. */
  isCrossed: boolean
}

/**
 * How to walk to a page; null with a filter, and for other orders. Later items of an app have larger ids and no earlier
 * times, so `created_at` is the order of ids, but for items of one moment.
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
