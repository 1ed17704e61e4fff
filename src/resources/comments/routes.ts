import type { AppState } from '../../engine/state.ts'
import { reply } from '../../http/route.ts'
import { route, type Route, type Served } from '../route.ts'
import { Forbidden, NotFound, type ProblemType } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import { IdPath, pagedList } from '../../api/shape.ts'
import { toAuthor } from '../content/author.ts'
import { requireShown } from '../content/find.ts'
import { listOfParent } from '../content/lists/list.ts'
import { listRoutes } from '../items/list-routes.ts'
import type { Parent, ParentType } from '../content/parent.ts'
import { prepareContent } from '../items/writing/prepare.ts'
import { itemRoutes } from '../items/routes.ts'
import { ContentListing } from '../content/schema.ts'
import { IsEmpty, NewContent } from '../items/schema.ts'
import { showItem, showPage } from '../items/show.ts'
import { findCommented, requireCommentable } from '../files/find.ts'
import { IsAttachment } from '../files/schema.ts'
import { post } from '../posts/kind.ts'
import { commentOn } from './commands.ts'
import { comment, commentCommands } from './kind.ts'
import { toListItem } from '../items/schema.ts'
import { Comment, CommentSummary } from './schema.ts'

/** Finds what can be commented: 404 for what the caller may not see, and for what is in the trash. */
type Find = (
  id: number,
  caller: Served<'sql' | 'apps' | 'userCache' | 'by'>,
) => Promise<{ row: Parent; state: AppState }>

interface Commented {
  type: ParentType
  find: Find
  /** Refuses what takes no comments. */
  findCommentable: Find
  problems: ProblemType[]
}

/** The comments of one kind of parent. */
function commentRoutes({ type, find, findCommentable, problems }: Commented): Route[] {
  const path = `/api/${type}s/{id}/comments`

  const create = route(`POST ${path}`, {
    summary: `Comment on a ${type}`,
    auth: 'token or key',
    params: IdPath,
    body: NewContent,
    creates: true,
    replies: { 201: Comment },
    problems: [...problems, Forbidden, NotFound, IsEmpty],
    async handle({ params, body, by, idempotencyKey }, context) {
      const { row, state } = await findCommentable(toId(params.id), context)
      const content = await prepareContent(body, row.app_id, context)
      const item = await context.apps.run(
        commentOn,
        row.app_id,
        by,
        { parent: { type, id: row.id }, content },
        idempotencyKey,
      )
      return reply(201, await showItem(comment, item, state, context))
    },
  })

  const list = route(`GET ${path}`, {
    summary: `List the comments on a ${type}; authors come with out=details`,
    auth: 'token or key',
    params: IdPath,
    query: ContentListing,
    replies: { 200: pagedList(toListItem(Comment, CommentSummary)) },
    problems: [NotFound],
    async handle({ params, query }, context) {
      const { row, state } = await find(toId(params.id), context)
      const page = await listOfParent(comment, state, row, query, context, await toAuthor(query, context.sql))
      return reply(200, await showPage(comment, page, context, state))
    },
  })

  return [create, list]
}

const findPost: Find = (id, caller) => requireShown(post, id, caller)

/** Commenting, and what can be done with comments: see `items/` for what they share with messages and posts. */
export const routes = [
  ...itemRoutes(comment, commentCommands, Comment),
  ...listRoutes(comment, { Item: Comment, Summary: CommentSummary, Listing: ContentListing }),
  ...commentRoutes({ type: 'post', find: findPost, findCommentable: findPost, problems: [] }),
  ...commentRoutes({
    type: 'file',
    find: findCommented,
    findCommentable: requireCommentable,
    problems: [IsAttachment],
  }),
]
