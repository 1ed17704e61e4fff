import { idleChores } from '../content/idle.ts'
import { resource } from '../resource.ts'
import { routes } from './routes.ts'

export const embeds = resource({ routes, chores: idleChores('embeds') })
