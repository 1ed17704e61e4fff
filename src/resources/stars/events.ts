import { event } from '../../engine/event.ts'
import type { ContentRow } from '../content/schema.ts'

/**
 * Somebody starred an entity, or took it back: nobody else's business, so nobody is told. It is an event because all
 * nodes must know whether an item in memory has any stars; entity_id is the item's id, the facts hold their number.
 */
export const starsChanged = event<null>({
  type: 'stars_changed',
  entity: 'star',
  isActivity: false,
  apply(state, { entity_id, facts }) {
    const { count } = facts as { count: number }
    state.changeItem(entity_id, item => ({ ...item, star_count: count }) as ContentRow)
  },
})

export const events = [starsChanged]
