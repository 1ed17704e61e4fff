import { resource } from '../resource.ts'
import { events } from './events.ts'
import { routes } from './routes.ts'

export const reactions = resource({ routes, events })
