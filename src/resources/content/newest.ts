import type { AppRow } from '../../actors/state.ts'
import type { Db } from '../../storage/sql.ts'
import type { Newest } from './events.ts'

/**
 * What an app's newest visible messages are without `id`: the newest, and the newest by anybody else than its author.
 * Null where `id` is neither of them, so that they stay what they are.
 */
export async function findNewest(db: Db, app: number, id: number): Promise<Newest | null> {
  const [known] = await db<Pick<AppRow, 'last_id' | 'prior_id'>[]>`
    select last_id, prior_id from apps where id = ${app}`
  if (known?.last_id !== id && known?.prior_id !== id) return null
  // The second look-up walks back over messages of one author: long only where one person wrote nearly everything.
  const [row] = await db<Newest[]>`
    with last as (
      select id, created_by from messages
      where app_id = ${app} and trashed_at is null and id <> ${id}
      order by app_id desc, id desc limit 1
    )
    select last.id as last_id, last.created_by as last_by, (
      select m.id from messages m
      where m.app_id = ${app} and m.trashed_at is null and m.id <> ${id} and m.created_by <> last.created_by
      order by m.app_id desc, m.id desc limit 1
    ) as prior_id
    from last`
  return row ?? { last_id: null, last_by: null, prior_id: null }
}
