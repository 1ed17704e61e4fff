import { idleJobs } from '../content/removal/idle.ts'
import { resource } from '../resource.ts'
import { routes } from './routes.ts'

export const meetings = resource({ routes, jobs: idleJobs('meetings') })
