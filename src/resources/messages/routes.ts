import { listRoutes } from '../content/lists/list-routes.ts'
import { itemRoutes } from '../content/routes.ts'
import { ContentListing } from '../content/schema.ts'
import { message, messageCommands } from './kind.ts'
import { Message, MessageSummary } from './schema.ts'

/** Sending, reading, editing, trashing, deleting and listing messages: see `content/` for the endpoints. */
export const routes = [
  ...itemRoutes(message, messageCommands, Message),
  ...listRoutes(message, { Item: Message, Summary: MessageSummary, Listing: ContentListing }),
]
