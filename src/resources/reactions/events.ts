import { z } from 'zod'
import { byId, event, type AppEvent, type PresentationContext } from '../../engine/event.ts'
import { showAppRef } from '../apps/represent.ts'
import { EventRef } from '../apps/schema.ts'
import type { ContentEntity } from '../content/kind.ts'
import type { ParentType } from '../content/parent.ts'
import type { ContentRow } from '../content/schema.ts'
import { findShownItems } from './store.ts'

/** The facts of a reaction event: a removed reaction could not be read later. */
export type ReactionFacts = {
  type: ContentEntity
  parent: { type: ParentType; id: number } | null
  content: string
  /** The number of reactions after the event; a replay that counted again would count twice. */
  count: number
}

/**
 * The body says that the item is still visible: a replay skips reactions to an item that is trashed or deleted by then.
 */
const change = (type: string) =>
  event<true>({
    type,
    entity: 'reaction',
    isActivity: false,
    isGuard: () => false,
    trigger: 'reactions',
    apply(state, { entity_id, facts }) {
      const { count } = facts as ReactionFacts
      state.changeItem(entity_id, item => ({ ...item, reaction_count: count }) as ContentRow)
    },
    load: byId(findShownItems),
    present: (event, context) => event.body && showChange(event, context),
    redact: showChange,
    schema: z.object({ entity: EventRef.extend({ type: z.string() }), reaction: z.string() }),
  })

function showChange({ entity_id, facts }: AppEvent<true>, { app, origin }: PresentationContext) {
  const { type, parent, content } = facts as ReactionFacts
  return { entity: { id: entity_id, type, app: showAppRef(app, origin), parent }, reaction: content }
}

/** A user reacted to an item; entity_id is the item's id. */
export const reactionAdded = change('reaction_added')
export const reactionRemoved = change('reaction_removed')

export const events = [reactionAdded, reactionRemoved]
