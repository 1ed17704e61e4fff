import { z } from 'zod'
import { Int } from '../../api/shape.ts'
import { QueryFlag } from '../../api/page.ts'
import { AppRefs } from '../apps/schema.ts'
import { ContentListing } from '../content/schema.ts'
import { Content } from '../items/schema.ts'
import { ContentSummary } from '../apps/content-fields.ts'

export const Post = Content.extend({ comments: z.object({ count: Int }) }).meta({ id: 'Post' })
export const PostSummary = ContentSummary.meta({ id: 'PostSummary' })

/** A place among ids: any 64-bit integer, also a negative one. Ids themselves are below 2^53. */
const Bound = z
  .string()
  .regex(/^-?\d{1,19}$/, 'must be a whole number')
  .transform(Number)

export const PostListing = ContentListing.extend({
  app: AppRefs,
  before: Bound.optional().describe('Only posts with a smaller id'),
  after: Bound.optional().describe('Only posts with a larger id'),
  following: QueryFlag.optional().describe('true: only posts by users whom the caller follows'),
})
export type PostListing = z.output<typeof PostListing>
