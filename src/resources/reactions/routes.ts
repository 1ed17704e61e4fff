import { reply } from '../../http/route.ts'
import { route, type Route } from '../route.ts'
import { Forbidden, NotFound } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import { IdPath } from '../../api/shape.ts'
import { toPage, toPagedList } from '../../api/page.ts'
import { requireShown } from '../content/find.ts'
import type { ContentKind } from '../content/kind.ts'
import { kinds } from '../content/kinds.ts'
import { addReaction, takeReactionBack } from './commands.ts'
import { toEmoji } from './emoji.ts'
import { showReaction, showReactionSummary } from './represent.ts'
import { NewReaction, ReactionListing, Reactions } from './schema.ts'
import { listReactions, orderFields } from './store.ts'

/** The routes of reactions to one kind of content. */
function reactionRoutes(kind: ContentKind): Route[] {
  const { entity } = kind
  const path = `/api/${entity}s/{id}/reactions`

  const add = route(`POST ${path}`, {
    summary: `React to a ${entity}; replaces an earlier reaction`,
    auth: 'token',
    params: IdPath,
    body: NewReaction,
    replies: { 204: null },
    problems: [Forbidden, NotFound],
    async handle({ params, body, by }, context) {
      const { row } = await requireShown(kind, toId(params.id), context)
      await context.apps.run(addReaction, row.app_id, by, { type: entity, id: row.id, content: body.content })
      return reply(204)
    },
  })

  const list = route(`GET ${path}`, {
    summary: `List the reactions to a ${entity}`,
    auth: 'token or key',
    params: IdPath,
    query: ReactionListing,
    replies: { 200: Reactions },
    problems: [NotFound],
    async handle({ params, query, representation, origin }, context) {
      const page = toPage(query, orderFields, 'id')
      const { row } = await requireShown(kind, toId(params.id), context)
      // A text that is no emoji matches no reaction.
      const content = query.content && (toEmoji(query.content) ?? query.content)
      const { rows, count } = await listReactions(context.sql, row, content, page)
      if (representation.items === 'summary') return reply(200, toPagedList(page, count, rows.map(showReactionSummary)))
      await context.userCache.load(rows.map(({ user_id }) => user_id))
      const items = rows.map(reaction => showReaction(reaction, context.userCache, origin))
      return reply(200, toPagedList(page, count, items))
    },
  })

  const remove = route(`DELETE ${path}`, {
    summary: `Take the caller's reaction to a ${entity} back`,
    auth: 'token',
    params: IdPath,
    replies: { 204: null },
    problems: [Forbidden, NotFound],
    async handle({ params, by }, context) {
      const { row } = await requireShown(kind, toId(params.id), context)
      await context.apps.run(takeReactionBack, row.app_id, by, { type: entity, id: row.id })
      return reply(204)
    },
  })

  return [add, list, remove]
}

export const routes = Object.values(kinds).flatMap(reactionRoutes)
