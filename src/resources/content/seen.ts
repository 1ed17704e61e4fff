import type { Db, Fragment } from '../../postgres/sql.ts'
import { hasVisibleParent } from './commented.ts'

/**
 * `select id, app_id, created_by, trashed_at`: the messages, posts and comments that match `which`, a condition on `t`,
 * without comments on trashed items.
 */
export function selectItems(db: Db, which: Fragment): Fragment {
  const columns = db`t.id, t.app_id, t.created_by, t.trashed_at`
  return db`
    select ${columns} from messages t where ${which}
    union all select ${columns} from posts t where ${which}
    union all select ${columns} from comments t where ${which} and ${hasVisibleParent(db)}`
}

/**
 * A condition on `t`, one of these items, and `a`, its app as `selectReadable` gives it: the user may read it. Trashed
 * items are readable for users who may restore them.
 */
export function isSeen(db: Db, user: number): Fragment {
  return db`(
    t.id > coalesce(a.hidden_id, 0) and (t.trashed_at is null or t.created_by = ${user} or coalesce(a.is_admin, false)))`
}
