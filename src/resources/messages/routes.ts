import { listRoutes } from '../items/list-routes.ts'
import { itemRoutes } from '../items/routes.ts'
import { ContentListing } from '../content/schema.ts'
import { message, messageCommands } from './kind.ts'
import { Message, MessageSummary } from './schema.ts'

/**
 * POST and GET /api/apps/{app}/messages, GET /api/messages, GET, PATCH and DELETE /api/messages/{id}, and POST
 * /api/messages/{id}/trash and /restore. Their handlers are those of all content: items/routes.ts, and
 * items/list-routes.ts for the lists. (`POST /api/apps/{app}/messages` is `create` in the former.)
 */
export const routes = [
  ...itemRoutes(message, messageCommands, Message),
  ...listRoutes(message, { Item: Message, Summary: MessageSummary, Listing: ContentListing }),
]
