import type { UserCache, User } from '../../../auth/user-cache.ts'
import type { VisiblePresence } from '../../../realtime/protocols/signalr/online.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { isShownByDirectories, listMates } from '../visible.ts'

interface Look {
  sql: Sql
  userCache: UserCache
  /** The viewers. */
  users: number[]
  /** The active users, without agents. */
  active: Set<number>
}

/**
 * The active users, and agents, which always are, whom each viewer can see, by the rules of visible.ts. Mostly from
 * memory: users with equal directories see equal sets. Only where some are hidden by directories, one query reads their
 * common apps.
 */
export async function lookAmong({ sql, userCache, users, active }: Look): Promise<VisiblePresence[]> {
  const agents = await sql<{ id: number }[]>`select id from users where is_agent and trashed_at is null`
  const everybody = [...new Set([...active, ...agents.map(({ id }) => id)])]
  await userCache.load([...users, ...everybody])
  const present = everybody.flatMap(id => userCache.find(id) ?? []).filter(({ trashed_at }) => trashed_at === null)

  const viewers = users.flatMap(id => userCache.find(id) ?? [])
  const circles = Map.groupBy(viewers, ({ directories }) => directories.map(({ id }) => id).join())
  const sights: VisiblePresence[] = []
  for (const circle of circles.values()) {
    const { seen, hidden } = divide(present, circle[0]!)
    const ids = circle.map(({ id }) => id)
    const mates = hidden.length === 0 ? new Map<number, number[]>() : await listMates(sql, ids, hidden)
    for (const [user, others] of mates) sights.push({ users: [user], active: [...seen, ...others] })
    const plain = ids.filter(user => !mates.has(user))
    if (plain.length > 0) sights.push({ users: plain, active: seen })
  }
  return sights
}

/** The users whom all users with a viewer's directories see, and those whom only some of them may see. */
function divide(present: User[], viewer: User): { seen: number[]; hidden: number[] } {
  const seen: number[] = []
  const hidden: number[] = []
  for (const person of present) {
    if (isShownByDirectories(viewer, person)) seen.push(person.id)
    // Agents in directories are visible to members of these only.
    else if (!person.is_agent) hidden.push(person.id)
  }
  return { seen, hidden }
}
