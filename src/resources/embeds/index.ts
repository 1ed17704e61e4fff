import { idleChores } from '../content/removal/idle.ts'
import { resource } from '../resource.ts'
import { routes } from './routes.ts'

export const embeds = resource({ routes, chores: idleChores('embeds') })
