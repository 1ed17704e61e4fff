import { resource } from '../resource.ts'
import { contentRoutes } from './content-routes.ts'
import { events } from './events.ts'
import { routes } from './routes.ts'
import { versionRoutes } from './version-routes.ts'

export const files = resource({ routes: [...routes, ...versionRoutes, ...contentRoutes], events })
