import { z } from 'zod'
import { IdQuery, Int, MomentInput, Timestamp } from '../../api/shape.ts'
import { hasLetters } from '../../postgres/word-search.ts'
import { AppRefs, AppSummary } from '../apps/schema.ts'
import { UserSummary } from '../users/schema.ts'

/** What is searched, by the words of the query. */
export const kinds = ['messages', 'posts', 'comments', 'files', 'people', 'apps'] as const
export type Kind = (typeof kinds)[number]

/** What an item may be asked to have. */
export const features = ['file', 'link', 'poll'] as const
export type Feature = (typeof features)[number]

/** The most words of a question, and characters. */
const mostWords = 32
const longest = 512

export const SearchQuery = z.object({
  q: z
    .string()
    .max(longest)
    .refine(q => q.trim().split(/\s+/).length <= mostWords, `must have at most ${mostWords} words`)
    .refine(hasLetters, 'must have a letter or a digit')
    .describe('Words, of which each is the beginning of one that is found; phrases in quotation marks'),
  in: z
    .array(z.enum(kinds))
    .max(kinds.length)
    .optional()
    .describe('What is searched; repeat the parameter. Default: all'),
  app: AppRefs.describe('Only what is in these apps: ids or uids, 100 at most; repeat the parameter'),
  by: z.string().max(256).optional().describe('Id or uid of a user: only what that user wrote or added'),
  from: MomentInput.optional().describe('Only what was made at this time or later'),
  to: MomentInput.optional().describe('Only what was made before this time'),
  has: z
    .array(z.enum(features))
    .max(features.length)
    .optional()
    .describe('Only messages, posts and comments with all of these; repeat the parameter'),
  order: z.enum(['relevance', 'newest']).optional().describe('Default: relevance, of the newest finds of each kind'),
  take: IdQuery.pipe(z.int().min(1).max(100)).optional().describe('Maximum number of hits, 1 to 100; default 25'),
  cursor: z.string().max(2048).optional().describe('The `cursor` of the page before, with the same question'),
})
export type SearchQuery = z.output<typeof SearchQuery>

/** Plain text, never HTML: to be escaped like any text of users. */
const Snippet = z
  .object({
    text: z.string().describe('Plain text around what was found; escape it before it is put into HTML'),
    marks: z
      .array(z.object({ start: Int, end: Int }))
      .optional()
      .describe('What was found in it, in UTF-16 code units; the end is excluded'),
  })
  .meta({ id: 'Snippet' })

export const SearchHit = z
  .object({
    type: z.enum(['message', 'post', 'comment', 'file', 'user', 'app']),
    id: Int,
    name: z.string().optional().describe('Of a file, a user or an app'),
    snippet: Snippet,
    app: AppSummary.optional().describe('Where it is; of an app, the app itself'),
    parent: z
      .object({ id: Int, type: z.enum(['message', 'post', 'comment', 'file']) })
      .optional()
      .describe('Of a comment, and of a file that is attached: what it is on'),
    place: z.string().optional().describe('Where in the text of a file it was found, such as `page 3`'),
    created_by: UserSummary.optional().describe('Of a user, the user itself'),
    created_at: Timestamp.optional(),
    updated_at: Timestamp.optional(),
  })
  .meta({ id: 'SearchHit' })
export type SearchHit = z.output<typeof SearchHit>

export const SearchHits = z.object({
  data: z.array(SearchHit).optional(),
  cursor: z.string().optional().describe('Asks for the next page; absent on the last one'),
})
