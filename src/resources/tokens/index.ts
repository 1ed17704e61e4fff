import { resource } from '../resource.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const tokens = resource({ routes, jobs })
