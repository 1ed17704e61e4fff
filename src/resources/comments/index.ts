import { resource } from '../resource.ts'
import { jobs } from './jobs.ts'
import { comment } from './kind.ts'
import { routes } from './routes.ts'

export const comments = resource({ routes, events: Object.values(comment.events), jobs })
