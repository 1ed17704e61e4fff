import { resource } from '../resource.ts'
import { jobs } from './jobs.ts'
import type { IsInSight } from './find.ts'
import { contentRoutes } from './content/routes.ts'
import { routes } from './routes.ts'

export const blobs = (isInSight: IsInSight) => resource({ routes: [...routes(isInSight), ...contentRoutes], jobs })
