import { loadingCommand } from '../../engine/command.ts'
import { NotFound } from '../../lib/errors.ts'
import type { Batch } from '../../postgres/batch.ts'
import type { Db } from '../../postgres/sql.ts'
import { requireRead } from '../apps/members/access.ts'
import type { ContentKind } from '../content/kind.ts'
import { loadItem } from '../content/find.ts'
import type { CountChange } from '../content/store.ts'
import { starsChanged } from './events.ts'
import type { StarRow } from './schema.ts'
import { findStarred, insertStar, removeStar } from './store.ts'

/** The target of a star, under its app's lock. */
interface Target {
  id: number
  app_id: number
  star_count: number
  changeCounts: Batch<CountChange>
}

/** Loads an item or a file; 404 where it or its parent is in the trash. */
export type LoadTarget = (db: Db, app: number, id: number) => Promise<Target>

export function loadItemTarget(kind: ContentKind): LoadTarget {
  return async (db, app, id) => {
    const { item } = await loadItem(kind, db, app, id)
    if (item.trashed_at !== null) throw NotFound()
    return { ...item, changeCounts: kind.store.changeCounts }
  }
}

/** Stars an item of an app for the caller, or removes the star. Needs read access; repeating changes nothing. */
export const starCommand = (type: StarRow['entity_type'], loadTarget: LoadTarget) =>
  loadingCommand(
    'changeStar',
    async (db, app, { id }: { id: number; isStarred: boolean }, by) => ({
      target: await loadTarget(db, app, id),
      wasStarred: (await findStarred(db, by.user, [id])).has(id),
    }),
    (work, { isStarred }) => {
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
