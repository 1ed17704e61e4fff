import { resource } from '../resource.ts'
import { memberRoutes } from './member-routes.ts'
import { routes } from './routes.ts'

export const directories = resource({ routes: [...routes, ...memberRoutes] })
