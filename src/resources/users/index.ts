import { resource } from '../resource.ts'
import { accountRoutes } from './account-routes.ts'
import { routes } from './routes.ts'

export const users = resource({ routes: [...routes, ...accountRoutes] })
