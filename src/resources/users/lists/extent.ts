import type { Principal } from '../../../auth/principal.ts'
import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'
import { toCircle } from './circle.ts'
import { countShown } from './shown.ts'
import { fewLimit, isOfFew, isVisibleTo, matesOf } from '../visible.ts'

/**
 * How many people a user can see decides how they are found: `few` from the caller to them, `many` by looking at each
 * user whether they are among them.
 */
type Extent = 'few' | 'many'

/** How much a caller sees. Costs no more than `fewLimit` people. */
export async function findExtent(db: Db, by: Principal): Promise<Extent> {
  if (by.kind === 'key') return 'many'
  const [row] = await db<{ is_bounded: boolean }[]>`
    select exists (select from directory_members d where d.user_id = ${by.user})
      and (select count(*) from (${matesOf(db, by.user)} limit ${fewLimit + 1}) m) <= ${fewLimit} as is_bounded`
  return row!.is_bounded ? 'few' : 'many'
}

/** A condition on `u`, a row of users: the caller can see it. `isNarrow`: it is asked of few rows, each by itself. */
export async function toVisible(db: Db, by: Principal, isNarrow: boolean): Promise<{ isSeen: Fragment }> {
  if (by.kind === 'key') return { isSeen: db`true` }
  if (isNarrow) return { isSeen: isVisibleTo(db, by) }
  if ((await findExtent(db, by)) === 'few') return { isSeen: isOfFew(db, by.user) }
  return toCircle(db as Sql, by.user, (await countShown(db, by.user)).by)
}
