import { resource } from '../resource.ts'
import { routes } from './routes.ts'

export const search = resource({ routes })
