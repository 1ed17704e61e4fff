import { listRoutes } from '../items/list-routes.ts'
import { itemRoutes } from '../items/routes.ts'
import { post, postCommands } from './kind.ts'
import { toNarrowing } from './narrow.ts'
import { Post, PostListing, PostSummary } from './schema.ts'

/** Publishing, reading, editing, trashing, deleting and listing posts: see `items/` for the endpoints. */
export const routes = [
  ...itemRoutes(post, postCommands, Post),
  ...listRoutes(post, { Item: Post, Summary: PostSummary, Listing: PostListing, toNarrowing }),
]
