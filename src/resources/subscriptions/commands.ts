import { loadingCommand } from '../../engine/command.ts'
import { NotFound } from '../../lib/errors.ts'
import { kinds } from '../content/kinds.ts'
import { requireParent, type ParentType } from '../content/parent.ts'
import { requireRead } from '../apps/members/access.ts'
import { saveSubscription } from './store.ts'

interface Choice {
  type: ParentType
  id: number
  isSubscribed: boolean
}

/**
 * Subscribes the caller to a post or file, or ends that, until the caller chooses otherwise. Needs read access; 404
 * where it is in the trash.
 */
export const changeSubscription = loadingCommand(
  'changeSubscription',
  async (db, app, { type, id }: Choice) => {
    const entity = await requireParent(kinds.comment.parents, { parent_type: type, parent_id: id }, db)
    if (entity?.app_id !== app) throw NotFound()
  },
  (work, { type, id, isSubscribed }) => {
    requireRead(work.state, work.by, work.userCache)
    work.write(saveSubscription, {
      entity_id: id,
      user_id: work.by.user,
      entity_type: type,
      is_subscribed: isSubscribed,
      since: work.nextId(),
    })
  },
)
