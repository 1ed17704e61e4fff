import { loadingCommand } from '../../engine/command.ts'
import { NotFound } from '../../lib/errors.ts'
import { makeItem, numbersForItem } from '../items/writing/make.ts'
import { requireParent, type ParentType } from '../content/parent.ts'
import type { PreparedContent } from '../items/writing/prepare.ts'
import { requireWrite } from '../apps/members/access.ts'
import { comment } from './kind.ts'

interface NewComment {
  parent: { type: ParentType; id: number }
  content: PreparedContent
}

/**
 * Comments on a post or file. Refuses with 403 or 404 where the caller may not write, 404 where the parent is in the
 * trash, 422 where there is nothing in it.
 */
export const commentOn = loadingCommand(
  'commentOn',
  async (db, app, { parent: { type, id } }: NewComment) => {
    const parent = await requireParent(comment.parents, { parent_type: type, parent_id: id }, db)
    if (parent?.app_id !== app) throw NotFound()
    return { ...parent, type }
  },
  (work, { content }) => {
    requireWrite(work.state, work.by, work.userCache)
    return makeItem(work, comment, content, work.loaded)
  },
  { maxIds: ({ content }) => numbersForItem(content) },
)
