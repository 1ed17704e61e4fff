import { z } from 'zod'
import { pagedList, Timestamp } from '../../api/shape.ts'
import { Listing } from '../../api/page.ts'
import { ActorRef } from '../users/schema.ts'
import { toEmoji } from './emoji.ts'

const Emoji = z
  .string()
  .max(64)
  .transform((text, context) => {
    const emoji = toEmoji(text)
    if (emoji !== null) return emoji
    context.addIssue({ code: 'custom', message: 'must be a single emoji' })
    return z.NEVER
  })

export const NewReaction = z.object({ content: Emoji })

/** A filter that is no emoji matches no reaction. */
export const ReactionListing = Listing.extend({
  content: z.string().max(64).optional().describe('Only reactions with this emoji'),
})

/** A reaction in lists. */
export const ReactionSummary = z.object({ content: z.string(), created_at: Timestamp }).meta({ id: 'ReactionSummary' })

/** A reaction within its item. */
export const Reaction = ReactionSummary.extend({ created_by: ActorRef }).meta({ id: 'Reaction' })

export const Reactions = pagedList(z.union([Reaction, ReactionSummary]))

/** A row of `reactions`. */
export interface ReactionRow {
  item_id: number
  user_id: number
  id: number
  app_id: number
  content: string
  created_at: Date
}
