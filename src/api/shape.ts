import { z } from 'zod'
import { foldName, hasDirection, hasHidden, isBlank, toName } from '../lib/name.ts'

/** An integer of a response: a string by default, a number for clients that ask for numbers. */
export const Int = z
  .union([z.string().regex(/^-?\d+$/), z.int()])
  .meta({ description: 'An integer, as a string by default' })

/** UTC, to the second: `2026-07-08T09:30:00Z`. */
export const Timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
  .meta({ format: 'date-time' })

export const Metadata = z.record(z.string(), z.unknown()).meta({ description: 'Free-form properties' })

/** A time in a request: `2026-07-08T09:30:00Z`, or with an offset. */
export const MomentInput = z.iso.datetime({ offset: true }).transform(text => new Date(text))

/** The envelope of a list. With `count_only` it holds the count alone; an empty list has no `data`. */
export const pagedList = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item).optional(), start: Int.optional(), end: Int.optional(), count: Int })

/** An id as text. More digits could exceed 2^53, up to which numbers are exact. */
export const idForm = /^\d{1,15}$/

/** An id in a request: a JSON number or a numeric string. */
export const IdInput = z
  .union([z.int().nonnegative(), z.string().regex(idForm, 'must be an id')])
  .transform(Number)
  .meta({ type: ['integer', 'string'] })

/** An id in a query. */
export const IdQuery = z.string().regex(idForm, 'must be an id').transform(Number)

/** The `{id}` of a path. Anything that is not an integer names nothing, so it is a 404 and not a 422. */
export const IdPath = z.object({ id: z.string() })

/** True for text that PostgreSQL can store: no NUL, no half of a surrogate pair. */
export const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed()

/** A name in a request, in NFC and trimmed. */
export const NameInput = (longest: number) => z.string().overwrite(toName).max(longest)

/** A name in a request of which something must be seen. */
export const VisibleInput = (longest: number) =>
  NameInput(longest).refine(text => !isBlank(text), 'must have characters that are seen')

/** One line of text in a request, in NFC and trimmed; blank counts as absent. */
export const LineInput = (longest: number) =>
  NameInput(longest)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters')
    .transform(text => (isBlank(text) ? null : text))

const isWebAddress = (text: string) => /^https?:\/\/[^\s\p{Cc}]+$/iu.test(text) && URL.canParse(text)

/** A URL in a request, trimmed. */
export const WebAddressInput = z.string().trim().max(2048).refine(isWebAddress, 'must be an absolute http or https URL')

/** Metadata in a request: an object of at most 64 KiB. */
export const MetadataInput = Metadata.refine(value => Buffer.byteLength(JSON.stringify(value)) <= 65_536, {
  message: 'must be at most 64 KiB',
}).describe('Free-form properties, kept as they are: 422 for numbers that a double does not keep, and for __proto__')

const notHidden = 'must not contain characters that are not seen, or that turn the direction of text'

/** A uid, a username, or another name that people and programs type. Accents alone are not seen either. */
export const isTyped = [(name: string) => !hasHidden(name) && !isBlank(name), notHidden] as const

const TagInput = VisibleInput(64).refine(
  tag => !hasDirection(tag),
  'must not contain characters that turn the direction of text',
)

/**
 * Tags in a request, trimmed: at most 50, of 64 characters. Tags with one fold count once, as the first is written.
 */
export const TagsInput = z
  .array(TagInput)
  // Checked first: to report a hundred thousand wrong tags one by one takes a second.
  .max(500)
  .transform(tags => Array.from(Map.groupBy(tags, foldName).values(), ([first]) => first!))
  .refine(tags => tags.length <= 50, { message: 'must be at most 50' })
  .describe('At most 50; of tags that differ in case only, or by what is not seen, the first')

/** Read as something else where a uid may stand: by URLs, by filters, and as the id of the deleted user. */
const reserved = new Set(['.', '..', 'true', 'false', '-1'])

/** A uid or a directory name, in NFC: no whitespace, at least one non-digit, and nothing that means something else. */
export const UidInput = z
  .string()
  .overwrite(text => text.normalize('NFC'))
  .min(1)
  .max(256)
  .regex(/^\S+$/, 'must not contain whitespace')
  .regex(/^\P{Cc}*$/u, 'must not contain control characters')
  .regex(/\D/, 'must contain at least one character that is not a digit')
  .refine(...isTyped)
  // Clients put uids into paths, some as they are.
  .regex(/^[^/\\?#%]*$/, 'must not contain / \\ ? # or %, which have a meaning in URLs')
  .refine(uid => !reserved.has(foldName(uid)), 'is reserved')
  .describe('Unique by its fold: no whitespace, at least one non-digit, nothing invisible, none of `/ \\ ? # %`')
