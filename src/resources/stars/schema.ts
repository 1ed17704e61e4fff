import { z } from 'zod'
import { Int, pagedList } from '../../api/shape.ts'
import { Range } from '../../api/page.ts'

const starredTypes = ['app', 'file', 'message', 'post', 'comment'] as const
export type StarredType = (typeof starredTypes)[number]

/** What was starred. */
export const Star = z.object({ id: Int, type: z.enum(starredTypes) }).meta({ id: 'Star' })
export const Stars = pagedList(Star)
export const StarListing = Range

/** A row of `stars`: a file or an item of content. */
export interface StarRow {
  user_id: number
  entity_id: number
  entity_type: Exclude<StarredType, 'app'>
  app_id: number
  created_at: Date
}
