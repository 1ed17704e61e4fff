import { resource } from '../resource.ts'
import { events } from './events.ts'
import { markingRoutes } from './marking-routes.ts'
import { routes } from './routes.ts'

export const notifications = resource({ routes: [...routes, ...markingRoutes], events })
