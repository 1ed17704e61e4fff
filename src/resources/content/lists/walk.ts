import type { Page } from '../../../api/page.ts'
import type { OrderField } from '../store.ts'
import type { Range } from './by-id.ts'
import { hasTerms } from './search.ts'

/** An order in which the position of each item of a place can be computed. */
export interface Walk {
  by: 'id' | 'update'
  descending: boolean
}

/**
 * How to walk to a page; null with a filter, and for other orders. Later items of an app have larger ids and no earlier
 * times, so `created_at` is the order of ids, unless items of one moment are turned round: `created_at desc,id`.
 */
export function toWalk(page: Page<OrderField>, { after, before }: Range): Walk | null {
  const [key, next] = page.order
  if (key === undefined || hasTerms(page)) return null
  const { field, descending } = key
  if (field === 'id') return { by: 'id', descending }
  if (next?.field !== 'id' || next.descending !== descending) return null
  if (field === 'created_at') return { by: 'id', descending }
  return after === undefined && before === undefined ? { by: 'update', descending } : null
}
