import type { Principal } from '../../../auth/principal.ts'
import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'
import { toCircle } from './circle.ts'
import { countShown } from './shown.ts'
import { fewLimit, isOfFew, isVisibleTo, matesOf } from '../visible.ts'

/**
 * True where a user can see few users: queries then start from that user, and otherwise check each user. Costs no more
 * than reading `fewLimit` users.
 */
export async function seesFew(db: Db, user: number): Promise<boolean> {
  const [row] = await db<{ sees_few: boolean }[]>`
    select exists (select from directory_members d where d.user_id = ${user})
      and (select count(*) from (${matesOf(db, user)} limit ${fewLimit + 1}) m) <= ${fewLimit} as sees_few`
  return row!.sees_few
}

/** A condition on `u`, a row of users: the caller can see it. `isNarrow`: for few rows, each checked by itself. */
export async function toVisible(db: Db, by: Principal, isNarrow: boolean): Promise<{ isSeen: Fragment }> {
  if (by.kind === 'key') return { isSeen: db`true` }
  if (isNarrow) return { isSeen: isVisibleTo(db, by) }
  if (await seesFew(db, by.user)) return { isSeen: isOfFew(db, by.user) }
  return toCircle(db as Sql, by.user, (await countShown(db, by.user)).by)
}
