import type { Principal } from '../../../auth/principal.ts'
import { fromNearerEnd } from '../../../postgres/order.ts'
import type { IdPage, Page } from '../../../api/page.ts'
import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'
import { countMates, seesFew, toCircle } from './circle.ts'
import { countAll } from './crowd.ts'
import { countShown } from './shown.ts'
import { selectUserIds, toOthers, type PersonOrder } from './user-ids.ts'
import { fewLimit, isSeenOneByOne, listStillSeen } from '../visible.ts'

/** The most rows of an index that are checked one by one for visibility, 10 µs each; a guess. */
const walkedLimit = 2_000

/**
 * A page of all users whom a user can see, agents included or not. Null where these or all users are few: then they are
 * gathered.
 */
export async function listSeen(
  db: Db,
  by: Principal,
  agent: false | undefined,
  page: Page<PersonOrder>,
): Promise<IdPage | null> {
  const users = await countAll(db)
  if (users <= fewLimit || (await seesFew(db, by.user))) return null
  const shown = await countShown(db, by.user)
  const people = shown.people + (await countMates(db as Sql, { user: by.user, ...shown.by }))
  const count = agent === false ? people : people + shown.agents
  if (page.countOnly || page.skip >= count) return { ids: [], count }
  const { offset, limit } = fromNearerEnd(page, count)
  const { field } = page.order[0]!
  // In the order of names, visible users lie among the others. By id or creation, they may all come after a million
  // others.
  const isWalked = field === 'name' && ((offset + limit) * users) / count < walkedLimit
  const where = db`u.id >= 1 ${field === 'id' ? toOthersById(db, agent) : toOthers(db, by, page, agent)}`
  if (isWalked) {
    return { ids: await selectUserIds(db, db`${where} and ${isSeenOneByOne(db, by.user)}`, page, count), count }
  }
  const { isSeen } = await toCircle(db as Sql, by.user, shown.by)
  const ids = await selectUserIds(db, db`${isSeen} and ${where}`, page, count)
  return { ids: await listStillSeen(db, by, ids), count }
}

/** As `toOthers`, but walks the primary key, which has no other columns, without reading rows. */
function toOthersById(db: Db, agent: false | undefined): Fragment {
  return db`
    and u.id not in (select t.id from users t where t.trashed_at is not null)
    ${agent === false ? db`and u.id not in (select a.id from users a where a.is_agent)` : db``}`
}
