import { resource } from '../resource.ts'
import { chores } from './chores.ts'
import { routes } from './routes.ts'

export const meetings = resource({ routes, chores })
