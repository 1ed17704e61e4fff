import { Content, ContentSummary } from '../content/schema.ts'

export const Message = Content.meta({ id: 'Message' })
export const MessageSummary = ContentSummary.meta({ id: 'MessageSummary' })
