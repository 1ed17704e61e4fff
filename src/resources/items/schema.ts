import { z } from 'zod'
import { problem } from '../../lib/errors.ts'
import { IdInput, Int, MetadataInput, pagedList, TagsInput } from '../../api/shape.ts'
import { AppSummary, EventApp } from '../apps/schema.ts'
import { Embed } from '../embeds/schema.ts'
import { EventFile, File } from '../files/schema.ts'
import { Meeting } from '../meetings/schema.ts'
import { ContentSummary } from '../apps/content-summary.ts'
import { EventOption, NewOptions, OptionChanges, OptionSummary } from '../options/schema.ts'
import { Reaction } from '../reactions/schema.ts'
import { UserSummary } from '../users/schema.ts'

const text = z.string().max(65_536).meta({ description: 'Markdown; its first 500 mentions count' })

/** What a message, post or comment is made of. */
export const NewContent = z.object({
  text: text.nullish(),
  metadata: MetadataInput.nullish(),
  tags: TagsInput.nullish(),
  blobs: z.array(IdInput).max(50).nullish().describe('Blobs of the caller, each of which becomes an attachment'),
  embed_id: IdInput.nullish().describe('An embed that the caller made or may see'),
  meeting_id: IdInput.nullish().describe('A meeting that the caller added'),
  options: NewOptions.nullish().describe('The options of a poll'),
  context: z
    .array(IdInput)
    .max(20)
    .nullish()
    .describe('Blobs of the caller that agents read with this item; they are shown to nobody'),
})
export type NewContent = z.output<typeof NewContent>

/** Absent members stay as they are, null clears. */
export const ContentUpdate = NewContent.extend({
  blobs: NewContent.shape.blobs.describe('Blobs to attach beside what is attached'),
  attachments: z.array(IdInput).max(50).nullish().describe('The attached files to keep; absent: all of them'),
  options: OptionChanges.nullish().describe('The whole poll; empty: no poll any more'),
  context: z.unknown().optional().describe('Has no effect: it is only read when an item is created'),
})
export type ContentUpdate = z.output<typeof ContentUpdate>

/** A message, post or comment by itself. */
export const Content = ContentSummary.extend({
  app: AppSummary,
  parent: z.object({ id: Int, type: z.enum(['post', 'file']) }).optional(),
  annotations: pagedList(File).describe('Files that contributed to the answer of an agent'),
  attachments: pagedList(File),
  embed: Embed.optional(),
  meeting: Meeting.optional(),
  options: pagedList(OptionSummary).describe('Empty where it is no poll'),
  reactions: pagedList(Reaction).describe(
    'The first 100; for the UI kit, which counts them, all that an answer has room for',
  ),
  created_by: UserSummary,
  updated_by: UserSummary.optional(),
})

/** A message, post or comment as events show it: without what depends on who looks, and without lists that are empty. */
export const EventContent = Content.omit({ is_starred: true, is_subscribed: true })
  .extend({
    app: EventApp,
    annotations: pagedList(EventFile.extend({ app: z.object({ id: Int }) })).optional(),
    attachments: pagedList(EventFile).optional(),
    options: pagedList(EventOption).optional(),
    reactions: pagedList(Reaction).optional(),
    comments: z.object({ count: Int }).optional().describe('Of posts'),
  })
  .meta({ id: 'EventContent' })

export const IsEmpty = problem(422, 'content-is-empty', 'Content needs a text or something attached.', {
  errors: { text: ['is required where nothing is attached'] },
})
