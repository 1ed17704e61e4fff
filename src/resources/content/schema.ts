import { z } from 'zod'
import { problem } from '../../lib/errors.ts'
import { Int, Metadata, MetadataInput, pagedList, TagsInput, Timestamp } from '../../lib/shape.ts'
import { AppSummary } from '../apps/schema.ts'
import { UserSummary } from '../users/schema.ts'

const text = z.string().max(65_536).meta({ description: 'Markdown' })

/** What a message, post or comment is made of. */
export const NewContent = z.object({
  text: text.nullish(),
  metadata: MetadataInput.nullish(),
  tags: TagsInput.nullish(),
})
export type NewContent = z.output<typeof NewContent>

/** Absent members stay as they are, null clears. */
export const ContentUpdate = NewContent
export type ContentUpdate = z.output<typeof ContentUpdate>

/** What list items hold. */
export const ContentSummary = z.object({
  id: Int,
  text: z.string().optional(),
  html: z.string().optional(),
  plain: z.string().optional(),
  metadata: Metadata.optional(),
  tags: z.array(z.string()).optional(),
  is_starred: z.boolean(),
  is_subscribed: z.boolean(),
  is_trashed: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp.optional(),
})

/** A message, post or comment by itself. */
export const Content = ContentSummary.extend({
  app: AppSummary,
  parent: z.object({ id: Int, type: z.enum(['post', 'file']) }).optional(),
  created_by: UserSummary,
  updated_by: UserSummary.optional(),
})

export const Contents = pagedList(z.union([Content, ContentSummary]))

/** A row of `messages`, `posts` or `comments`. */
export interface ContentRow {
  id: number
  app_id: number
  text: string | null
  html: string | null
  plain: string | null
  metadata: Record<string, unknown> | null
  tags: string[]
  embed_id: number | null
  meeting_id: number | null
  created_at: Date
  created_by: number
  updated_at: Date | null
  updated_by: number | null
  trashed_at: Date | null
}

export const IsEmpty = problem(422, 'content-is-empty', 'Content needs a text or something attached.')

