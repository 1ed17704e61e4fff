import { Content } from '../items/schema.ts'
import { ContentSummary } from '../apps/content-fields.ts'

export const Message = Content.meta({ id: 'Message' })
export const MessageSummary = ContentSummary.meta({ id: 'MessageSummary' })
