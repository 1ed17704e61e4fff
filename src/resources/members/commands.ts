import { command, type Work } from '../../actors/command.ts'
import { blankMember, type Access, type MemberRow } from '../../actors/state.ts'
import { Forbidden, invalid, NotFound, problem } from '../../lib/errors.ts'
import { ownerChanged } from '../apps/events.ts'
import { isAtLeast, requireAdmin, requireRead } from './access.ts'
import { memberAdded, memberRemoved, memberUpdated } from './events.ts'

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
 * Makes people members or changes their access; answers how many are new. Admins may do both; in a chat room whoever
 * may write may add people, but not change the access of others. Only admins give `admin` or take it, and the last
 * one stays. Refuses with 403, 404, and 422 in private and agent chats.
 */
export const putMembers = command(
  'putMembers',
  (work: Work, list: NewMember[]) => {
    const level = requireRead(work.state, work.by, work.people)
    requireOpenMembership(work)
    const isAdmin = level === 'admin'
    const mayAdd = isAdmin || (work.app.type === 'chat_room' && isAtLeast(level, 'write'))
    if (!mayAdd) throw Forbidden()
    requireAdminLeft(work, list)
    let added = 0
    for (const { user, access } of list) {
      const row = work.state.member(user)
      const isNew = row === undefined || row.access === null
      if (!isAdmin && (access === 'admin' || (!isNew && row.access !== access))) throw Forbidden()
      if (isNew) {
        added++
        const joined = { ...(row ?? blankMember(work.app.id, user)), access, joined_rev: work.nextId() }
        work.emit(memberAdded, { entity: user, body: joined })
      } else if (row.access !== access) {
        work.emit(memberUpdated, { entity: user, body: { ...row, access } })
      }
    }
    return added
  },
  { numbers: list => list.length * 3 },
)

/**
 * Ends memberships. Everybody may leave; removing others needs admin. When the owner leaves, ownership passes to the
 * longest-standing person who may write. Refuses with 403, 404 for who is no member, 422 in private and agent chats.
 */
export const removeMembers = command(
  'removeMembers',
  (work: Work, users: number[]) => {
    const isLeaving = users.every(user => user === work.by.user)
    if (isLeaving) requireOwnMembership(work)
    else requireAdmin(work.state, work.by, work.people)
    requireOpenMembership(work)
    for (const user of users) {
      if (work.state.member(user)?.access == null) throw NotFound()
      work.emit(memberRemoved, { entity: user, body: null })
    }
    if (work.app.owner_id !== null && users.includes(work.app.owner_id)) passOwnership(work, users)
  },
  { numbers: users => users.length + 1 },
)

/** Lets somebody into an app that admits its callers by upsert. Checked by the caller; repeating changes nothing. */
export const joinApp = command(
  'joinApp',
  (work: Work) => {
    const row = work.state.member(work.by.user)
    if (row !== undefined && row.access !== null) return
    const joined: MemberRow = {
      ...(row ?? blankMember(work.app.id, work.by.user)),
      access: 'write',
      joined_rev: work.nextId(),
    }
    work.emit(memberAdded, { entity: work.by.user, body: joined })
  },
  { numbers: () => 2 },
)

function requireOpenMembership({ app }: Work): void {
  if (app.type === 'private_chat' || app.type === 'agent_chat') throw FixedMembers({ type: app.type })
}

/** Leaving works for every member, also one whose own access is none. */
function requireOwnMembership({ app, state, by }: Work): void {
  if (app.trashed_at !== null || app.deleted_at !== null) throw NotFound()
  if (state.member(by.user)?.access == null) throw NotFound()
}

/** The last admin stays one, and an owner who is made less gives the ownership up. */
function requireAdminLeft(work: Work, list: NewMember[]): void {
  const wanted = new Map(list.map(({ user, access }) => [user, access]))
  const admins = [...work.state.members()].filter(row => row.access === 'admin').map(row => row.user_id)
  if (admins.length > 0 && ![...admins, ...wanted.keys()].some(user => (wanted.get(user) ?? 'admin') === 'admin')) {
    throw LastAdmin()
  }
  const owner = work.app.owner_id
  if (owner === null || (wanted.get(owner) ?? 'admin') === 'admin') return
  work.emit(ownerChanged, { entity: work.app.id, body: { ...work.app, owner_id: null } })
}

function passOwnership(work: Work, leaving: number[]): void {
  let heir: number | null = null
  for (const { user_id, access } of work.state.members()) {
    if (leaving.includes(user_id) || access === null || !isAtLeast(access, 'write')) continue
    if (work.people.find(user_id)?.is_agent) continue
    heir = user_id
    break
  }
  work.emit(ownerChanged, { entity: work.app.id, body: { ...work.app, owner_id: heir } })
}
