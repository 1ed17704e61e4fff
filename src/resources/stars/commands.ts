import { loadingCommand } from '../../engine/command.ts'
import { requireRead } from '../apps/members/access.ts'
import { starsChanged } from './events.ts'
import type { StarRow } from './schema.ts'
import { findStarred, insertStar, removeStar } from './store.ts'
import type { LoadTarget } from './target.ts'

interface StarChange {
  type: StarRow['entity_type']
  id: number
  isStarred: boolean
}

/**
 * Stars an item of an app for the caller, or removes the star. Needs read access; repeating changes nothing.
 * `loadTarget` loads the item.
 */
export const starCommand = (loadTarget: LoadTarget) =>
  loadingCommand(
    'changeStar',
    async (db, app, { type, id }: StarChange, by) => ({
      target: await loadTarget(db, app, type, id),
      wasStarred: (await findStarred(db, by.user, [id])).has(id),
    }),
    (work, { type, isStarred }) => {
      const { by, loaded } = work
      const { target, wasStarred } = loaded
      requireRead(work.state, by, work.userCache)
      if (isStarred === wasStarred) return
      const star = { user_id: by.user, entity_id: target.id }
      if (isStarred) work.write(insertStar, { ...star, entity_type: type, app_id: target.app_id, created_at: work.now })
      else work.write(removeStar, star)
      const change = isStarred ? 1 : -1
      work.write(target.changeCounts, { id: target.id, reactions: 0, comments: 0, made: 0, stars: change })
      work.emit(starsChanged, { entity: target.id, body: null, facts: { count: target.star_count + change } })
    },
  )
