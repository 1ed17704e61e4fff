import { resource } from '../resource.ts'
import { chores } from './purge/chores.ts'
import { events } from './events.ts'
import { ownRoutes } from './own/routes.ts'
import { routes } from './routes.ts'

export const apps = resource({ routes: [...routes, ...ownRoutes], events, chores })
