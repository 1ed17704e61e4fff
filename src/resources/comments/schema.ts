import { Content } from '../items/schema.ts'
import { ContentSummary } from '../apps/content-fields.ts'

export const Comment = Content.meta({ id: 'Comment' })
export const CommentSummary = ContentSummary.meta({ id: 'CommentSummary' })
