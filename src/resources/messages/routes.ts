import { contentRoutes } from '../content/routes.ts'
import { message, messageCommands } from './kind.ts'
import { Message, MessageSummary } from './schema.ts'

/** Sending, reading, editing, trashing and deleting messages: `content/routes.ts` has the endpoints. */
export const routes = contentRoutes(message, messageCommands, { Item: Message, Summary: MessageSummary })
