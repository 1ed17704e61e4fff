import { resource } from '../resource.ts'
import { auditEntryCreated } from './events.ts'
import { routes } from './routes.ts'

export const audit = resource({ routes, events: [auditEntryCreated] })
