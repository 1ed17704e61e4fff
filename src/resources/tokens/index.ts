import { resource } from '../resource.ts'
import { jobs } from './jobs.ts'
import { grantRoutes } from './grants/routes.ts'
import { routes } from './routes.ts'

export const tokens = resource({ routes: [...routes, ...grantRoutes], jobs })
