import { emptyTrash } from '../content/removal/trash.ts'
import { resource } from '../resource.ts'
import { deleteFile } from './commands.ts'
import { contentRoutes } from './content/routes.ts'
import { events } from './events.ts'
import { routes } from './routes.ts'
import { versionRoutes } from './versions/routes.ts'

export const files = resource({
  routes: [...routes, ...versionRoutes, ...contentRoutes],
  events,
  jobs: emptyTrash({ table: 'files', remove: deleteFile }),
})
