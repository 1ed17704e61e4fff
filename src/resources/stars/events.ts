import { event } from '../../engine/event.ts'
import type { ContentRow } from '../content/schema.ts'

/**
 * A user starred an item or removed the star. Sent to no client; it is an event because all nodes must know whether an
 * item in memory has stars. entity_id is the item's id, the facts hold its number of stars.
 */
export const starsChanged = event<null>({
  type: 'stars_changed',
  entity: 'star',
  isActivity: false,
  isGuard: () => false,
  apply(state, { entity_id, facts }) {
    const { count } = facts as { count: number }
    state.changeItem(entity_id, item => ({ ...item, star_count: count }) as ContentRow)
  },
})

export const events = [starsChanged]
