import { resource } from '../resource.ts'
import { events } from './events.ts'
import { routes } from './routes.ts'

export const notifications = resource({ routes, events })
