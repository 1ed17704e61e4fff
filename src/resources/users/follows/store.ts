import type { Principal } from '../../../auth/principal.ts'
import type { Db, Tx } from '../../../postgres/sql.ts'

interface Follow {
  user: number
  followed: number
}

export async function insertFollow(tx: Tx, { user, followed }: Follow, now: Date): Promise<void> {
  await tx`
    insert into follows (user_id, followed_id, created_at) values (${user}, ${followed}, ${now})
    on conflict do nothing`
}

/** False where there was none. */
export async function removeFollow(tx: Tx, { user, followed }: Follow): Promise<boolean> {
  const { count } = await tx`delete from follows where user_id = ${user} and followed_id = ${followed}`
  return count > 0
}

const nobody: ReadonlySet<number> = new Set()

/** The users among some whom the caller follows; none for an API key. Served by the primary key. */
export async function findFollowed(db: Db, by: Principal, people: number[]): Promise<ReadonlySet<number>> {
  if (by.kind !== 'user' || people.length === 0) return nobody
  const rows = await db<{ followed_id: number }[]>`
    select followed_id from follows where user_id = ${by.user} and followed_id = any(${people}::bigint[])`
  return new Set(rows.map(row => row.followed_id))
}
