import { z } from 'zod'
import { pagedList } from '../../lib/shape.ts'
import { Listing, QueryFlag } from '../../storage/page.ts'
import { Content, ContentSummary } from '../content/schema.ts'

export const Message = Content.meta({ id: 'Message' })
export const MessageSummary = ContentSummary.meta({ id: 'MessageSummary' })
export const Messages = pagedList(z.union([Message, MessageSummary]))

export const MessagePath = z.object({ id: z.string() })
export const MessageQuery = z.object({ trashed: QueryFlag.optional() })

export const MessageListing = Listing.extend({
  around: z.string().optional().describe('A message id: the page with this message in its middle'),
  out: z.enum(['summary', 'details']).optional().describe('Whether items are summaries or whole'),
})
export type MessageListing = z.output<typeof MessageListing>
