import type { Db } from '../../../postgres/sql.ts'
import type { Newest } from '../../apps/own/unread.ts'
import { isWithin } from '../../content/lists/positions/place.ts'

/**
 * An app's newest visible messages without `id`: the newest, and the newest by any other author. Null where the message
 * `id` is neither of the two, so that removing it changes neither.
 */
export async function findNewest(db: Db, app: number, id: number): Promise<Newest | null> {
  const [known] = await db<Newest[]>`select last_id, last_by, prior_id from apps where id = ${app}`
  if (known === undefined || (known.last_id !== id && known.prior_id !== id)) return null
  // Where the message before is by the same author, the newest by others does not change. Otherwise it is searched
  // backwards over messages of one author: 130 ms for 500,000 of them, which is rare.
  const [row] = await db<Newest[]>`
    with last as (
      select id, created_by from messages
      where ${isWithin(db, { app, parent: null })} and trashed_at is null and id <> ${id}
      order by app_id desc, id desc limit 1
    )
    select last.id as last_id, last.created_by as last_by,
      case when ${known.last_id === id} and last.created_by = ${known.last_by} then ${known.prior_id}::bigint else (
        select m.id from messages m
        where ${isWithin(db, { app, parent: null })} and m.trashed_at is null and m.id <> ${id} and m.created_by <> last.created_by
        order by m.app_id desc, m.id desc limit 1
      ) end as prior_id
    from last`
  return row ?? { last_id: null, last_by: null, prior_id: null }
}
