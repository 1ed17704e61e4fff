import { resource } from '../resource.ts'
import { listJobs } from './jobs.ts'
import { listNodes } from './nodes.ts'
import { showSeries } from './series.ts'
import { sessionRoutes } from './sessions.ts'
import { listSettings } from './settings.ts'
import { signInRoutes } from './sign-in/routes.ts'
import { showStorage } from './storage.ts'

export const admin = resource({
  routes: [listNodes, showSeries, listSettings, listJobs, showStorage, ...sessionRoutes],
  adminRoutes: signInRoutes,
})
