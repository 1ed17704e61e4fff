import { resource } from '../resource.ts'
import { post } from './kind.ts'
import { routes } from './routes.ts'

export const posts = resource({ routes, events: Object.values(post.events) })
