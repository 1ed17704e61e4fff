import { loadingCommand } from '../../actors/command.ts'
import { NotFound } from '../../lib/errors.ts'
import type { ContentEntity } from '../content/kind.ts'
import { kinds } from '../content/kinds.ts'
import { loadItem } from '../content/load.ts'
import { requireRead } from '../members/access.ts'
import { starsChanged } from './events.ts'
import { findStarred, insertStar, removeStar } from './store.ts'

interface StarChange {
  type: ContentEntity
  id: number
  isStarred: boolean
}

/** Stars an item for the caller, or takes the star back. For whoever may read; repeating changes nothing. */
export const changeStar = loadingCommand(
  'changeStar',
  async (db, app, { type, id }: StarChange, by) => ({
    ...(await loadItem(kinds[type], db, app, id)),
    wasStarred: (await findStarred(db, by.user, [id])).has(id),
  }),
  (work, { type, isStarred }) => {
    const { by, loaded } = work
    const { item, wasStarred } = loaded
    requireRead(work.state, by, work.people)
    if (item.trashed_at !== null) throw NotFound()
    if (isStarred === wasStarred) return
    const star = { user_id: by.user, entity_id: item.id }
    if (isStarred) work.write(insertStar, { ...star, entity_type: type, app_id: item.app_id, created_at: work.now })
    else work.write(removeStar, star)
    const change = isStarred ? 1 : -1
    work.write(kinds[type].store.changeCounts, { id: item.id, reactions: 0, comments: 0, stars: change })
    work.emit(starsChanged, { entity: item.id, body: null, facts: { count: item.star_count + change } })
  },
)
