import { z } from 'zod'
import { Listing, QueryFlag } from '../../api/page.ts'
import type { ContentFields } from '../apps/content-fields.ts'

export const ContentQuery = z.object({ trashed: QueryFlag.optional() })

export const CreatedBy = z.string().max(256).optional().describe('Id or uid of a user: only items by that user')

export const ContentListing = Listing.extend({
  created_by: CreatedBy,
  around: z.string().optional().describe('An id: the page with this item in its middle'),
})
export type ContentListing = z.output<typeof ContentListing>

/** A row of `messages`, `posts` or `comments`. */
export interface ContentRow extends ContentFields {
  id: number
  app_id: number
  /** The parent of a comment; null for an item made directly in the app. */
  parent_type: 'post' | 'file' | null
  parent_id: number | null
  text: string | null
  /** Null where they can be derived from the text; see text/render.ts. */
  html: string | null
  plain: string | null
  embed_id: number | null
  meeting_id: number | null
  attachment_count: number
  option_count: number
  reaction_count: number
  comment_count: number
  /** The number of comments ever made. */
  made_count: number
  star_count: number
  created_at: Date
  created_by: number
  updated_at: Date | null
  updated_by: number | null
  trashed_at: Date | null
}
