import { resource } from '../resource.ts'
import type { ClearDirectory } from './closing.ts'
import { memberRoutes } from './member-routes.ts'
import { routes } from './routes.ts'

export const directories = (clearDirectory: ClearDirectory) =>
  resource({ routes: [...routes(clearDirectory), ...memberRoutes] })
