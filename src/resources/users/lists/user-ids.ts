import type { Principal } from '../../../auth/principal.ts'
import { fromNearerEnd, orderBy } from '../../../postgres/order.ts'
import type { IdPage, Page } from '../../../api/page.ts'
import type { Db, Fragment } from '../../../postgres/sql.ts'

export type PersonOrder = 'id' | 'name' | 'created_at'

const columns: Record<PersonOrder, string> = { id: 'u.id', name: 'u.sort_name', created_at: 'u.created_at' }

/** Trashed users are visible to API keys, which may restore them. */
export function toOthers(
  db: Db,
  { kind }: Principal,
  { trashed, tags }: Pick<Page, 'trashed' | 'tags'>,
  isAgent: boolean | undefined,
): Fragment {
  const hidesTrashed = trashed === false || kind !== 'key'
  return db`
    ${hidesTrashed ? db`and u.trashed_at is null` : trashed === null ? db`` : db`and u.trashed_at is not null`}
    ${isAgent === undefined ? db`` : db`and u.is_agent = ${isAgent}`}
    ${tags.length === 0 ? db`` : db`and u.tags && ${tags}::text[]`}`
}

/** A page of users that match a condition on `u`. */
export async function listUserIds(db: Db, where: Fragment, page: Page<PersonOrder>): Promise<IdPage> {
  const [total] = await db<{ count: number }[]>`select count(*) as count from users u where ${where}`
  const count = total!.count
  if (page.countOnly || page.skip >= count) return { ids: [], count }
  return { ids: await selectUserIds(db, where, page, count), count }
}

/**
 * The page, given the total. Served by users_by_name, users_by_creation or the primary key, walked from the nearer end.
 */
export async function selectUserIds(
  db: Db,
  where: Fragment,
  page: Pick<Page<PersonOrder>, 'order' | 'skip' | 'take'>,
  count: number,
): Promise<number[]> {
  const walk = fromNearerEnd(page, count)
  const rows = await db<{ id: number }[]>`
    select u.id from users u where ${where}
    ${orderBy(db, walk.order, columns)}
    limit ${walk.limit} offset ${walk.offset}`
  return walk.restore(rows.map(({ id }) => id))
}
