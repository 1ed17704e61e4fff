import type { UserCache, User } from '../../../auth/user-cache.ts'
import type { VisiblePresence } from '../../../realtime/protocols/signalr/online.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { listMates } from '../visible.ts'

interface Look {
  sql: Sql
  userCache: UserCache
  /** The viewers. */
  users: number[]
  /** The active users, without agents. */
  active: Set<number>
}

/**
 * The active users, and agents, which always are, whom each viewer can see, by the rules of `visibleTo`. Mostly from
 * memory: users with equal directories see equal sets. Only where some are hidden by directories, one query reads their
 * common apps.
 */
export async function lookAmong({ sql, userCache, users, active }: Look): Promise<VisiblePresence[]> {
  const agents = await sql<{ id: number }[]>`select id from users where is_agent and trashed_at is null`
  const everybody = [...new Set([...active, ...agents.map(({ id }) => id)])]
  await userCache.load([...users, ...everybody])
  const present = everybody.flatMap(id => userCache.find(id) ?? []).filter(({ trashed_at }) => trashed_at === null)

  const circles = new Map<string, { sight: VisiblePresence; hidden: number[] }>()
  for (const user of users) {
    const person = userCache.find(user)
    if (person === undefined) continue
    const key = person.directories.map(({ id }) => id).join()
    let circle = circles.get(key)
    if (circle === undefined) circles.set(key, (circle = toCircle(person, present)))
    circle.sight.users.push(user)
  }

  const sights: VisiblePresence[] = []
  for (const { sight, hidden } of circles.values()) {
    const mates = hidden.length === 0 ? new Map<number, number[]>() : await listMates(sql, sight.users, hidden)
    for (const [user, others] of mates) sights.push({ users: [user], active: [...sight.active, ...others] })
    const plain = sight.users.filter(user => !mates.has(user))
    if (plain.length > 0) sights.push({ users: plain, active: sight.active })
  }
  return sights
}

/** The users whom all users with these directories see, and those whom only some of them may see. */
function toCircle(viewer: User, present: User[]): { sight: VisiblePresence; hidden: number[] } {
  const active: number[] = []
  const hidden: number[] = []
  for (const person of present) {
    if (isInCircle(viewer, person)) active.push(person.id)
    // Agents in directories are visible to members of these only.
    else if (!person.is_agent) hidden.push(person.id)
  }
  return { sight: { users: [], active }, hidden }
}

function isInCircle(viewer: User, person: User): boolean {
  if (person.directories.length === 0) return person.is_agent || viewer.directories.length === 0
  return person.directories.some(({ id }) => viewer.directories.some(own => own.id === id))
}
