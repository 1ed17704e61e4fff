import { z } from 'zod'
import { invalid } from '../lib/errors.ts'

/** `true`, `false`, or the literal `null` for both. */
export const Tristate = z.enum(['true', 'false', 'null'])

export const QueryFlag = z.enum(['true', 'false']).transform(text => text === 'true')

const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^-?\d{1,18}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(least).max(most))

/** The most words of a search: each is looked for by itself. A guess. */
const wordLimit = 32

/** The query parameters of all lists. An empty value counts as absent. */
export const Listing = z.object({
  q: z
    .string()
    .max(512)
    .refine(q => q.trim().split(/\s+/).length <= wordLimit, `must have at most ${wordLimit} words`)
    .optional()
    .describe('Matches items by name'),
  tag: z
    .array(z.string())
    .max(50)
    .optional()
    .describe('Items having any of the tags, 50 at most; repeat the parameter'),
  trashed: Tristate.optional().describe('true: only trashed items; null: trashed or not'),
  order_by: z.string().optional().describe('Fields to sort by, each optionally with a direction: `id` or `id+desc`'),
  skip: whole(0, Number.MAX_SAFE_INTEGER).optional().describe('Number of items to skip'),
  take: whole(1, 100).optional().describe('Maximum number of items, 1 to 100; default 25'),
  count_only: QueryFlag.optional().describe('true: answer with the count alone'),
  out: z.enum(['summary', 'details']).optional().describe('Whether items are summaries or whole; default: summaries'),
})

export const Range = Listing.pick({ skip: true, take: true, count_only: true, out: true })

export interface OrderKey<Field extends string = string> {
  field: Field
  descending: boolean
}

export interface Page<Field extends string = string> {
  skip: number
  take: number
  countOnly: boolean
  order: OrderKey<Field>[]
  q: string | undefined
  tags: string[]
  trashed: boolean | null
}

/** The ids of a page, and the total. */
export interface IdPage {
  ids: number[]
  count: number
}

/**
 * Turns list parameters into a page request. `fields` may be sorted by; `defaults` is the order when none is given.
 * `id` is appended so that every order is total: ascending, or, with `ties`, in the direction of the key before it, so
 * that the reverse of an order is its exact opposite. A repeated field counts where it is named first. Unknown field:
 * 422.
 */
export function toPage<Field extends string>(
  listing: Partial<z.infer<typeof Listing>>,
  fields: readonly Field[],
  defaults: string,
  ties: 'ascending' | 'along' = 'ascending',
): Page<Field> {
  return {
    skip: listing.skip ?? 0,
    take: listing.take ?? 25,
    countOnly: listing.count_only ?? false,
    order: toOrder(listing.order_by ?? defaults, fields, ties),
    q: listing.q,
    tags: listing.tag ?? [],
    trashed: listing.trashed === undefined ? false : listing.trashed === 'null' ? null : listing.trashed === 'true',
  }
}

function toOrder<Field extends string>(
  text: string,
  fields: readonly Field[],
  ties: 'ascending' | 'along',
): OrderKey<Field>[] {
  const order = new Map<Field, OrderKey<Field>>()
  for (const part of text.split(',')) {
    const [name, direction = 'asc', ...rest] = part.trim().split(/[\s+]+/)
    const field = fields.find(field => field === name)
    if (field === undefined || !/^(asc|desc)$/i.test(direction) || rest.length > 0) {
      throw invalid({ order_by: [`must be one of ${fields.join(', ')}, each optionally followed by desc`] })
    }
    if (!order.has(field)) order.set(field, { field, descending: direction.toLowerCase() === 'desc' })
  }
  const keys = [...order.values()]
  const id = fields.find(field => field === 'id')
  if (id === undefined || order.has(id)) return keys
  return [...keys, { field: id, descending: ties === 'along' && keys.at(-1)!.descending }]
}

export interface PagedList<Item> {
  data?: Item[]
  start?: number
  end?: number
  count: number
}

/**
 * The envelope of a list: the items and their positions, or the count alone. Items and count are read one after the
 * other, so there may be more items than were counted.
 */
export function toPagedList<Item>(
  page: { skip: number; countOnly: boolean },
  count: number,
  items: Item[],
): PagedList<Item> {
  if (page.countOnly) return { count }
  const end = page.skip + items.length
  return { data: items, start: page.skip, end, count: items.length === 0 ? count : Math.max(count, end) }
}

/** The envelope of a nested list: its first items, or all. */
export function toFirstItems<Item>(items: Item[], count = items.length): PagedList<Item> {
  return { data: items, start: 0, end: items.length, count }
}
