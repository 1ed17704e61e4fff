import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { NotFound } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import { requireShown } from '../content/find.ts'
import { ContentPath } from '../content/schema.ts'
import { showItem } from '../items/show.ts'
import { post } from './kind.ts'
import { Post } from './schema.ts'
import { changeSubscription } from '../subscriptions/commands.ts'

const ofPosts = (verb: 'subscribe' | 'unsubscribe') =>
  route(`POST /api/posts/{id}/${verb}`, {
    summary: verb === 'subscribe' ? 'Subscribe to a post' : 'Unsubscribe from a post',
    auth: 'token',
    params: ContentPath,
    replies: { 200: Post },
    problems: [NotFound],
    async handle({ params, by, representation, origin }, { sql, apps, userCache }) {
      const caller = { by, representation, origin, sql, apps, userCache }
      const { row, state } = await requireShown(post, toId(params.id), caller)
      const choice = { type: 'post' as const, id: row.id, isSubscribed: verb === 'subscribe' }
      await apps.run(changeSubscription, row.app_id, by, choice)
      return reply(200, await showItem(post, row, state, caller))
    },
  })

export const subscriptionRoutes = [ofPosts('subscribe'), ofPosts('unsubscribe')]
