import { command, loadingCommand, type Work } from '../../../engine/command.ts'
import type { UserCache } from '../../../auth/user-cache.ts'
import type { Principal } from '../../../auth/principal.ts'
import type { Access, MemberRow } from '../../../engine/state.ts'
import { auditByKey } from '../../../audit/audit.ts'
import { Forbidden, invalid, NotFound, problem } from '../../../lib/errors.ts'
import { ownerChanged } from '../events.ts'
import { hasFixedMembers } from '../kinds.ts'
import { isAtLeast, requireAdmin, requireRead, type Guarded } from './access.ts'
import { memberRemoved, memberUpdated, type RemovedMember } from './events.ts'
import { join, joinNumbers } from './join.ts'
import { findHeir } from './store.ts'

export interface NewMember {
  user: number
  access: Access
}

export const FixedMembers = problem(
  422,
  'members-are-fixed',
  'The members of a private or agent chat cannot be changed.',
  { errors: { members: ['cannot be changed in this type of app'] } },
)
const LastAdmin = () => invalid({ access: ['the app must keep at least one admin'] })

/**
 * Adds members or changes their access; returns how many are new. Admins may do both; in a chat room, members with
 * write access may add users, but not change the access of others. Only admins give or take `admin`, and the last admin
 * stays. Refuses with 403, 404, and 422 in private and agent chats.
 */
export const putMembers = command(
  'putMembers',
  (work: Work, list: NewMember[]) => {
    const level = requireRead(work.state, work.by, work.userCache)
    requireOpenMembership(work)
    const mayAll = level === 'admin'
    const mayAdd = mayAll || (work.app.type === 'chat_room' && isAtLeast(level, 'write'))
    if (!mayAdd) throw Forbidden()
    const accessOf = (user: number) => work.state.member(user)?.access ?? null
    if (!mayAll && list.some(({ user, access }) => !isPlainAddition(accessOf(user), access))) throw Forbidden()
    requireAdminLeft(work, list)
    let added = 0
    for (const { user, access } of list) {
      const row = work.state.member(user)
      if (row === undefined || row.access === null) {
        added++
        join(work, user, access)
      } else if (row.access !== access) {
        const facts = row.access === 'none' && { facts: { was_kept_out: true } }
        work.emit(memberUpdated, { entity: user, body: { ...row, access }, ...facts })
      }
    }
    const target = { type: 'app', id: work.app.id, name: work.app.uid }
    if (work.events.length > 0) auditByKey(work, { action: 'members_changed', target, after: { members: list } })
    return added
  },
  // One more for an owner whose access is reduced.
  { maxIds: list => list.length * joinNumbers + 1 },
)

/**
 * Ends memberships. All members may leave an app that they can see; removing others needs admin. When the owner or the
 * last admin leaves, the longest-standing member with write access takes over. Refuses with 403, with 404 for users who
 * are not members, with 422 in private and agent chats.
 */
export const removeMembers = loadingCommand(
  'removeMembers',
  findHeir,
  (work, users: number[]) => {
    requireMayRemove(work, users)
    const target = { type: 'app', id: work.app.id, name: work.app.uid }
    auditByKey(work, { action: 'members_removed', target, before: { users } })
    end(work, users)
  },
  // Two more for the new owner and their access.
  { maxIds: users => users.length + 2 },
)

/**
 * Ends the membership of a user who is being deleted, also in a trashed app: after its restoration there would be no
 * one to remove the user.
 */
export const removeDeleted = loadingCommand(
  'removeDeleted',
  (db, app, user: number) => findHeir(db, app, [user]),
  (work, user: number) => {
    if (work.app.deleted_at !== null) throw NotFound()
    end(work, [user])
  },
  { maxIds: () => 3 },
)

function end(work: Work<number | null>, users: number[]): void {
  for (const user of users) {
    const row = work.state.member(user)
    if (row === undefined || row.access === null) throw NotFound()
    const facts: RemovedMember = {
      ...(row.is_subscribed === false && { is_unsubscribed: true }),
      ...(row.access === 'none' && { was_kept_out: true }),
    }
    work.emit(memberRemoved, { entity: user, body: null, ...(Object.keys(facts).length > 0 && { facts }) })
  }
  passOn(work, users)
}

/** All members may leave an app that they can see; removing others needs admin, whether or not they are members. */
export function requireMayRemove(
  { state, by, userCache }: { state: Guarded; by: Principal; userCache: UserCache },
  users: readonly (number | undefined)[],
): void {
  const isLeaving = users.length > 0 && users.every(user => user === by.user)
  // A user whose access is `none` could otherwise get around it by leaving, where the app is open to non-members.
  requireRead(state, by, userCache)
  requireOpenMembership(state)
  if (!isLeaving) requireAdmin(state, by, userCache)
}

/**
 * True for a change that needs no admin in a chat room: a new member with ordinary access, or no change. `none` would
 * shut a user out.
 */
function isPlainAddition(before: Access | null, wanted: Access): boolean {
  return before === null ? wanted === 'read' || wanted === 'write' : wanted === before
}

function requireOpenMembership({ app }: Pick<Guarded, 'app'>): void {
  if (hasFixedMembers(app.type)) throw FixedMembers({ type: app.type })
}

/** Keeps the last admin, and ends the ownership of an owner whose access is reduced. */
function requireAdminLeft(work: Work, list: NewMember[]): void {
  const wanted = new Map(list.map(({ user, access }) => [user, access]))
  const loses = list.some(({ user, access }) => access !== 'admin' && isAdmin(work.state.member(user)))
  const gains = list.some(({ access }) => access === 'admin')
  if (loses && !gains && !hasAdmin(work, wanted)) throw LastAdmin()
  const owner = work.app.owner_id
  if (owner === null || (wanted.get(owner) ?? 'admin') === 'admin') return
  work.emit(ownerChanged, { entity: work.app.id, body: { ...work.app, owner_id: null } })
}

/** Keeps an owner or admin in an app that had one, if there is a member for it. */
function passOn(work: Work<number | null>, users: number[]): void {
  const leaving = new Set(users)
  const ownerLeft = work.app.owner_id !== null && leaving.has(work.app.owner_id)
  const adminsLeft = users.some(user => isAdmin(work.state.member(user))) && !hasAdmin(work, leaving)
  if (!ownerLeft && !adminsLeft) return

  const heir = work.loaded === null ? undefined : work.state.member(work.loaded)
  if (ownerLeft) {
    work.emit(ownerChanged, { entity: work.app.id, body: { ...work.app, owner_id: heir?.user_id ?? null } })
  }
  if (heir !== undefined && !isAdmin(heir)) {
    work.emit(memberUpdated, { entity: heir.user_id, body: { ...heir, access: 'admin' } })
  }
}

/** True where another member is an admin. Stops at the first. */
function hasAdmin({ state }: Pick<Work, 'state'>, others: { has(user: number): boolean }): boolean {
  for (const row of state.members()) if (isAdmin(row) && !others.has(row.user_id)) return true
  return false
}

function isAdmin(row: MemberRow | undefined): boolean {
  return row?.access === 'admin'
}
