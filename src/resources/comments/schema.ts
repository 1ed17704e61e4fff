import { Content } from '../content/schema.ts'
import { ContentSummary } from '../content/summary-schema.ts'

export const Comment = Content.meta({ id: 'Comment' })
export const CommentSummary = ContentSummary.meta({ id: 'CommentSummary' })
