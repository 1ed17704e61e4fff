import { Content, ContentSummary } from '../content/schema.ts'

export const Comment = Content.meta({ id: 'Comment' })
export const CommentSummary = ContentSummary.meta({ id: 'CommentSummary' })
