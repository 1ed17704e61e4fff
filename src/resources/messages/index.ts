import { emptyTrash } from '../content/removal/trash.ts'
import { resource } from '../resource.ts'
import { message, messageCommands } from './kind.ts'
import { routes } from './routes.ts'

export const messages = resource({
  routes,
  events: Object.values(message.events),
  jobs: emptyTrash({ table: 'messages', remove: messageCommands.remove }),
})
