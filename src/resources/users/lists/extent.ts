import type { Principal } from '../../../auth/principal.ts'
import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'
import { toCircle } from './circle.ts'
import { countShown } from './shown.ts'
import { fewLimit, isOfFew, isVisibleTo, matesOf } from '../visible.ts'

/**
 * The number of users that a caller can see decides the query: `few` starts from the caller, `many` checks each user.
 */
type Extent = 'few' | 'many'

/** How many users a caller can see. Costs no more than reading `fewLimit` users. */
export async function findExtent(db: Db, by: Principal): Promise<Extent> {
  if (by.kind === 'key') return 'many'
  const [row] = await db<{ is_bounded: boolean }[]>`
    select exists (select from directory_members d where d.user_id = ${by.user})
      and (select count(*) from (${matesOf(db, by.user)} limit ${fewLimit + 1}) m) <= ${fewLimit} as is_bounded`
  return row!.is_bounded ? 'few' : 'many'
}

/** A condition on `u`, a row of users: the caller can see it. `isNarrow`: for few rows, each checked by itself. */
export async function toVisible(db: Db, by: Principal, isNarrow: boolean): Promise<{ isSeen: Fragment }> {
  if (by.kind === 'key') return { isSeen: db`true` }
  if (isNarrow) return { isSeen: isVisibleTo(db, by) }
  if ((await findExtent(db, by)) === 'few') return { isSeen: isOfFew(db, by.user) }
  return toCircle(db as Sql, by.user, (await countShown(db, by.user)).by)
}
