import { reply } from '../../http/route.ts'
import { route, type Served } from '../route.ts'
import { invalid, NotFound } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import { IdPath } from '../../api/shape.ts'
import { toAppIds } from '../apps/find.ts'
import { requireShown } from '../content/find.ts'
import type { Narrowing } from '../content/lists/list.ts'
import { listRoutes } from '../items/list-routes.ts'
import { itemRoutes } from '../items/routes.ts'
import { showItem } from '../items/show.ts'
import { changeSubscription } from '../subscriptions/commands.ts'
import { post, postCommands } from './kind.ts'
import { Post, PostListing, PostSummary } from './schema.ts'

/** The restrictions of a list of posts. 422 for an API key that asks for posts by followed users. */
async function toNarrowing(
  { app, before, after, following }: PostListing,
  caller: Served<'sql' | 'by'>,
): Promise<Narrowing> {
  const { by } = caller
  if (following && by.kind !== 'user')
    throw invalid({ following: ['needs an access token: an API key follows no users'] })
  return {
    ...(app && { apps: await toAppIds(app, caller) }),
    ...(before !== undefined && { before: toBound(before) }),
    ...(after !== undefined && { after: toBound(after) }),
    ...(following && { followedBy: by.user }),
  }
}

/** The nearest bound that can be an id. */
function toBound(given: number): number {
  return Math.max(-1, Math.min(given, Number.MAX_SAFE_INTEGER))
}

const subscription = (verb: 'subscribe' | 'unsubscribe') =>
  route(`POST /api/posts/{id}/${verb}`, {
    summary: verb === 'subscribe' ? 'Subscribe to a post' : 'Unsubscribe from a post',
    auth: 'token',
    params: IdPath,
    replies: { 200: Post },
    problems: [NotFound],
    async handle({ params, by }, context) {
      const { row, state } = await requireShown(post, toId(params.id), context)
      const choice = { type: 'post' as const, id: row.id, isSubscribed: verb === 'subscribe' }
      await context.apps.run(changeSubscription, row.app_id, by, choice)
      return reply(200, await showItem(post, row, state, context))
    },
  })

/** Publishing, reading, editing, trashing, deleting and listing posts: see `items/` for the endpoints. */
export const routes = [
  ...itemRoutes(post, postCommands, Post),
  ...listRoutes(post, { Item: Post, Summary: PostSummary, Listing: PostListing, toNarrowing }),
  subscription('subscribe'),
  subscription('unsubscribe'),
]
