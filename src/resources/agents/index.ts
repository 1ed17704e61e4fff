import { resource } from '../resource.ts'
import { functionRoutes } from './functions/routes.ts'
import { routes } from './routes.ts'
import { serverRoutes } from './servers/routes.ts'

export const agents = resource({ routes: [...routes, ...functionRoutes, ...serverRoutes] })
