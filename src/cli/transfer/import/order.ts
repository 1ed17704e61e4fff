import type { Tx } from '../../../postgres/sql.ts'
import type { Numbers } from './rows.ts'

/**
 * Puts the apps of a source in the order of what was last written in them, which lists show: batches have given them revs in
 * the order of the file. Only apps in which nothing has happened since the import, because others have events at their revs.
 */
export async function orderApps(tx: Tx, source: string, numbers: Numbers): Promise<void> {
  const rows = await tx<{ id: number; rev: number }[]>`
    select a.id, a.rev from imported i join apps a on a.id = i.id
    where i.source = ${source} and i.type = 'app'
      and not exists (select from events e where e.app_id = a.id and e.rev = a.rev)
    order by a.head_at, a.id`
  if (rows.every(({ rev }, i) => i === 0 || rev > rows[i - 1]!.rev)) return
  await numbers.draw(tx, rows.length)
  const ids = rows.map(({ id }) => id)
  const revs = rows.map(() => numbers.next())
  await tx`
    with r as (select * from unnest(${ids}::bigint[], ${revs}::bigint[]) r(id, rev)), done as (
      update notification_cursors c set rev = r.rev, rolled_id = r.rev
      from r join apps a on a.id = r.id where c.app_id = r.id and c.rev = a.rev
    )
    update apps a set rev = r.rev, head_rev = r.rev, guard_rev = r.rev from r where a.id = r.id`
}
