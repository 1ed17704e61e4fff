import { Content } from '../content/schema.ts'
import { ContentSummary } from '../content/summary-schema.ts'

export const Message = Content.meta({ id: 'Message' })
export const MessageSummary = ContentSummary.meta({ id: 'MessageSummary' })
