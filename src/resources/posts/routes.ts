import { listRoutes } from '../content/lists/list-routes.ts'
import { itemRoutes } from '../content/routes.ts'
import { post, postCommands } from './kind.ts'
import { toNarrowing } from './narrow.ts'
import { Post, PostListing, PostSummary } from './schema.ts'

/** Publishing, reading, editing, trashing, deleting and listing posts: see `content/` for the endpoints. */
export const routes = [
  ...itemRoutes(post, postCommands, Post),
  ...listRoutes(post, { Item: Post, Summary: PostSummary, Listing: PostListing, toNarrowing }),
]
