import { resource } from '../resource.ts'
import { jobRoutes } from './jobs.ts'
import { nodeRoutes } from './nodes.ts'
import { seriesRoutes } from './series.ts'
import { sessionRoutes } from './sessions.ts'
import { settingRoutes } from './settings.ts'
import { signInRoutes } from './sign-in/routes.ts'
import { storageRoutes } from './storage.ts'

export const admin = resource({
  routes: [...nodeRoutes, ...seriesRoutes, ...settingRoutes, ...jobRoutes, ...storageRoutes, ...sessionRoutes],
  adminRoutes: signInRoutes,
})
