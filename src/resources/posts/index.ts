import { emptyTrash } from '../content/removal/trash.ts'
import { resource } from '../resource.ts'
import { post, postCommands } from './kind.ts'
import { routes } from './routes.ts'

export const posts = resource({
  routes,
  events: Object.values(post.events),
  jobs: emptyTrash({ table: 'posts', remove: postCommands.remove }),
})
