import { z } from 'zod'

/** Something that was written, apart from who wrote it and when. */
export const Said = z.object({
  type: z.string(),
  id: z.int(),
  author: z.string(),
  author_id: z.int(),
  at: z.string(),
  text: z.string(),
  cite: z.string(),
  files: z.array(z.object({ id: z.int(), name: z.string() })).optional(),
  options: z.array(z.object({ id: z.int(), text: z.string(), votes: z.int() })).optional(),
})
export type Said = z.input<typeof Said>

/** What an item says, without its files and options: as much as summaries show. */
export const Brief = Said.omit({ files: true, options: true })

type ItemType = 'message' | 'post' | 'comment'

/** An item as the API shows it, as far as tools look at it. */
export interface ShownItem {
  id: number
  plain?: string
  created_at: string
  created_by: { id: number; name: string }
  app: { id: number; metadata?: { mcp?: unknown } }
  parent?: { id: number; type: string }
  attachments?: { data?: { id: number; name: string }[] }
  options?: { data?: { id: number; text: string; votes: { count: number } }[] }
}

export interface Listed<Item> {
  data?: Item[]
  count: number
}

/** The longest text of an item in a result. A guess: a page. */
const longestText = 4_000

export function toSaid(type: ItemType, item: ShownItem): Said {
  const { id, plain = '', created_at, created_by, app, attachments, options } = item
  return {
    type,
    id,
    author: created_by.name,
    author_id: created_by.id,
    at: created_at,
    text: cutText(plain),
    cite: cite(app.id, type, id),
    ...(attachments?.data && { files: attachments.data.map(({ id, name }) => ({ id, name })) }),
    ...(options?.data && { options: options.data.map(({ id, text, votes }) => ({ id, text, votes: votes.count })) }),
  }
}

/** The name of something in the workspace, by which a model tells where it has it from. */
export function cite(app: number, type: string, id: number): string {
  return type === 'app' ? `parley://app/${app}` : `parley://app/${app}/${type}/${id}`
}

function cutText(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText).toWellFormed()}…` : text
}
