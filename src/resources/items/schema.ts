import { z } from 'zod'
import { problem } from '../../lib/errors.ts'
import { IdInput, Int } from '../../api/shape.ts'
import { AppSummary, EventApp, EventParent } from '../apps/schema.ts'
import { ContentSummary, fieldInputs } from '../apps/content-fields.ts'
import { UserSummary } from '../users/schema.ts'
import { mapParts, partList, type itemParts } from './parts.ts'

type ItemParts = typeof itemParts
type Inputs<Members extends 'fields' | 'changes'> = {
  [Name in keyof ItemParts]: NonNullable<ItemParts[Name]['input']>[Members]
}[keyof ItemParts]
type Together<Shapes> = (Shapes extends unknown ? (shape: Shapes) => void : never) extends (all: infer All) => void
  ? All
  : never

/** The input members of all parts. */
function inputs<Members extends 'fields' | 'changes'>(members: Members): Together<Inputs<Members>> {
  return Object.assign({}, ...partList.map(([, part]) => part.input?.[members])) as Together<Inputs<Members>>
}

/** The output members of all parts. */
function outputs<Look extends 'shown' | 'told'>(look: Look): { [Name in keyof ItemParts]: ItemParts[Name][Look] } {
  return mapParts(part => part[look]) as { [Name in keyof ItemParts]: ItemParts[Name][Look] }
}

const text = z
  .string()
  .max(65_536)
  .meta({
    description:
      'Markdown: CommonMark with the tables, strikethrough and autolinks of GitHub. `[Name](@u2)` and `[Name](@uid)` ' +
      'mention a user; brackets in the name are escaped or balanced, as in links. The first 500 mentions count',
  })

/** The input of a new message, post or comment. */
export const NewContent = z.object({
  text: text.nullish(),
  ...fieldInputs,
  ...inputs('fields'),
  context: z
    .array(IdInput)
    .max(20)
    .nullish()
    .describe('Blobs of the caller that agents read with this item; they are not shown'),
})
export type NewContent = z.output<typeof NewContent>

/** Absent members stay, null clears. */
export const ContentUpdate = NewContent.extend({
  ...inputs('changes'),
  context: z.unknown().optional().describe('Has no effect: it is only read when an item is created'),
})
export type ContentUpdate = z.output<typeof ContentUpdate>

/** A detailed message, post or comment. */
export const Content = ContentSummary.extend({
  app: AppSummary,
  parent: z.object({ id: Int, type: z.enum(['post', 'file']) }).optional(),
  ...outputs('shown'),
  created_by: UserSummary,
  updated_by: UserSummary.optional(),
})

/** A message, post or comment in events: without members that differ between readers, and without empty lists. */
export const EventContent = Content.omit({ is_starred: true, is_subscribed: true })
  .extend({
    app: EventApp,
    parent: EventParent.optional(),
    ...outputs('told'),
    comments: z.object({ count: Int }).optional().describe('Of posts'),
  })
  .meta({ id: 'EventContent' })

export const IsEmpty = problem(422, 'content-is-empty', 'Content needs a text or something attached.', {
  errors: { text: ['is required where nothing is attached'] },
})

/**
 * The item of a list. One schema instead of a choice of two, which no member would tell apart: the members of the summary,
 * and with `out=details` those of the whole item.
 */
export function toListItem(Item: z.ZodObject, Summary: z.ZodObject): z.ZodObject {
  return Item.partial()
    .extend(Summary.shape)
    .meta({ ...Summary.meta(), description: 'Members that are not in every list come with `out=details`' })
}
