import type { AppRow } from '../../actors/state.ts'
import type { Db } from '../../storage/sql.ts'
import type { Newest } from './events.ts'

/** The newest visible messages without `id`: the newest, and the newest by anybody else than its author. */
export async function findNewest(db: Db, app: number, id: number): Promise<Newest> {
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

/** True where hiding the message changes what the app knows of its newest ones; only then are they looked up. */
export function isNewest({ last_id, prior_id }: Pick<AppRow, 'last_id' | 'prior_id'>, id: number): boolean {
  return id === last_id || id === prior_id
}
