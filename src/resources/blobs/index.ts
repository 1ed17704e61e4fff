import { resource } from '../resource.ts'
import { chores } from './chores.ts'
import { contentRoutes } from './content/routes.ts'
import { routes } from './routes.ts'

export const blobs = resource({ routes: [...routes, ...contentRoutes], chores })
