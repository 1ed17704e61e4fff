import { createHash } from 'node:crypto'
import { z } from 'zod'
import { invalid } from '../../lib/errors.ts'
import { kinds, type Kind, type SearchQuery } from './schema.ts'

const Place = z.partialRecord(z.enum(kinds), z.int())

/** Where a page ends. */
const Cursor = z.object({
  /** The question, as it is told from others. */
  q: z.string(),
  /** For each kind the id before which the search goes on, of which the first page had the newest. */
  before: Place,
  /** By relevance: the last hit. */
  after: z.object({ score: z.number(), at: z.number(), kind: z.enum(kinds), id: z.int() }).optional(),
})
export type Cursor = z.output<typeof Cursor>
export type Before = Partial<Record<Kind, number>>

/** Tells a question from others: whatever finds or orders differently. */
function nameOf({ take: _, cursor: __, ...question }: SearchQuery): string {
  return createHash('sha256').update(JSON.stringify(question)).digest('base64url').slice(0, 12)
}

export function writeCursor(query: SearchQuery, place: Omit<Cursor, 'q'>): string {
  return Buffer.from(JSON.stringify({ q: nameOf(query), ...place })).toString('base64url')
}

/** 422 where it was not given by this search. It says only where to go on; rights are asked for each page. */
export function readCursor(query: SearchQuery): Cursor | null {
  if (query.cursor === undefined) return null
  const read = Cursor.safeParse(parse(query.cursor))
  if (!read.success || read.data.q !== nameOf(query)) throw invalid({ cursor: ['is not of a page of this search'] })
  return read.data
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}
