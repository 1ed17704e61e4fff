import { resource } from '../resource.ts'
import { message } from './kind.ts'
import { routes } from './routes.ts'

export const messages = resource({ routes, events: Object.values(message.events) })
