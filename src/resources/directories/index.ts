import { resource } from '../resource.ts'
import type { ClearDirectory } from './closing.ts'
import { routes } from './routes.ts'

export const directories = (clearDirectory: ClearDirectory) => resource({ routes: routes(clearDirectory) })
