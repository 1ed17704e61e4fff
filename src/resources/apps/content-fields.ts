import { z } from 'zod'
import { Int, Metadata, MetadataInput, TagsInput, Timestamp } from '../../api/shape.ts'
import type { ColumnType } from '../../postgres/batch.ts'

/** A member of messages, posts and comments that authors give and readers get. */
interface Field<Value, Input extends z.ZodType, Output extends z.ZodType> {
  column: ColumnType
  /** The value of an item that was made without it. In requests, null stands for it. */
  none: Value
  /** In requests. */
  input: Input
  /** In responses and events. */
  output: Output
  /** The value without texts of users, for webhooks. Default: the value. */
  redact?(value: Value): Value
}

/** Declares a field whose column holds values of this type. */
function field<Value>() {
  return <Input extends z.ZodType, Output extends z.ZodType>(declared: Field<Value, Input, Output>) => declared
}

/**
 * The fields of content beside its text. A new one is added here, to the tables by a migration, and to items/row.ts, which
 * names each because it runs for every item; the compiler names what it forgets.
 */
export const contentFields = {
  metadata: field<Record<string, unknown> | null>()({
    column: 'jsonb',
    none: null,
    input: MetadataInput.nullish(),
    output: Metadata.optional(),
    redact: withoutWords,
  }),
  tags: field<string[]>()({
    column: 'text[]',
    none: [],
    input: TagsInput.nullish(),
    output: z.array(z.string()).optional(),
  }),
}

type Fields = typeof contentFields
type FieldName = keyof Fields
type Body = { readonly [Name in FieldName]?: ContentFields[Name] | null | undefined }

/** The values of the fields of an item. */
export type ContentFields = { [Name in FieldName]: Fields[Name]['none'] }

export const fieldNames = Object.keys(contentFields) as FieldName[]

/** One member of each field, by its name. */
function mapFields<Member extends 'column' | 'input' | 'output'>(member: Member) {
  const members = fieldNames.map(name => [name, contentFields[name][member]])
  return Object.fromEntries(members) as { [Name in FieldName]: Fields[Name][Member] }
}

export const fieldColumns = mapFields('column')
export const fieldInputs = mapFields('input')

/** The fields of a new item. */
export function toFields(body: Body): ContentFields {
  const values: Record<string, unknown> = {}
  for (const name of fieldNames) values[name] = body[name] ?? contentFields[name].none
  return values as ContentFields
}

/** The fields that an edit changes. */
export function changedFields(body: Body): Partial<ContentFields> {
  const values: Record<string, unknown> = {}
  for (const name of fieldNames) if (body[name] !== undefined) values[name] = body[name] ?? contentFields[name].none
  return values
}

/** The fields without texts of users. */
export function redactFields(item: ContentFields): ContentFields {
  const values: Record<string, unknown> = {}
  for (const name of fieldNames) {
    const { none, redact }: { none: unknown; redact?(value: unknown): unknown } = contentFields[name]
    // A delivery that was queued before there was the field lacks it.
    const value = item[name] ?? none
    values[name] = redact === undefined ? value : redact(value)
  }
  return values as ContentFields
}

/** Without a page's instructions for an agent, and the arguments of a tool call: both are text. */
function withoutWords(metadata: Record<string, unknown> | null): Record<string, unknown> | null {
  if (metadata === null || (metadata.instructions === undefined && metadata.tool_approval === undefined))
    return metadata
  const { instructions: _, tool_approval: approval, ...rest } = metadata
  if (typeof approval !== 'object' || approval === null) return rest
  const { arguments: __, ...asked } = approval as Record<string, unknown>
  return { ...rest, tool_approval: asked }
}

/** A message, post or comment as list items show it. */
export const ContentSummary = z.object({
  id: Int,
  text: z.string().optional(),
  html: z.string().optional(),
  plain: z.string().optional(),
  ...mapFields('output'),
  is_starred: z.boolean(),
  is_subscribed: z.boolean(),
  is_trashed: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp.optional(),
})
