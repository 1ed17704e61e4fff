import { globalCommand, type GlobalWork } from '../../engine/global/command.ts'
import { audit } from '../../audit/audit.ts'
import { UidInput } from '../../api/shape.ts'
import { NotFound, invalid } from '../../lib/errors.ts'
import { foldName } from '../../lib/name.ts'
import { createProfile, toTarget, uidTaken, updateProfile, type UserChange } from './profile.ts'
import { SpecialUser } from './schema.ts'
import * as store from './store.ts'
import type { StoredUser } from './store.ts'

export interface Saved {
  id: number
  isNew: boolean
}

/** Makes a user. Refuses with 422 for a uid or username that is taken, and for unknown directories. */
export const createUser = globalCommand(
  'createUser',
  async (work: GlobalWork, given: UserChange & { uid: string }): Promise<Saved> => {
    const id = await createProfile(work, { given, isAgent: false })
    if (id === null) throw invalid(uidTaken)
    return { id, isNew: true }
  },
  { sharesCommit: true },
)

/**
 * Changes a user: absent members stay, null clears. An update without a change writes nothing. Refuses with 404 for
 * trashed users and agents, with 403 for the special users, with 422 as `createUser`.
 */
export const updateUser = globalCommand(
  'updateUser',
  async (work: GlobalWork, { user, given }: { user: string; given: UserChange }): Promise<Saved> => {
    const stored = await requireUser(work, user)
    if (stored.trashed_at !== null) throw NotFound()
    await updateProfile(work, stored, given)
    return { id: stored.id, isNew: false }
  },
)

/**
 * Makes the user with this uid, or changes it as `updateUser` does, but keeps the uid on null: repeating the call would
 * make another user. A trashed user is changed too and stays trashed.
 */
export const upsertUser = globalCommand(
  'upsertUser',
  async (work: GlobalWork, { uid, given }: { uid: string; given: UserChange }): Promise<Saved> => {
    requireUid(uid)
    const stored = await store.lockUser(work.sql, uid)
    if (stored !== null) return change(work, stored, given)
    if (given.uid != null && foldName(given.uid) !== foldName(uid)) {
      throw invalid({ uid: ['must be the one in the path'] })
    }
    const id = await createProfile(work, { given: { ...given, uid }, isAgent: false })
    if (id !== null) return { id, isNew: true }
    // A concurrent command has made it: its commit is over, so the row exists now.
    const made = await store.lockUser(work.sql, uid)
    if (made === null) throw invalid(uidTaken)
    return change(work, made, given)
  },
)

/** Trashes a user; its tokens stop being valid. Returns its id. Repeating changes nothing. */
export const trashUser = globalCommand('trashUser', async (work: GlobalWork, user: string): Promise<number> => {
  const stored = await requireUser(work, user)
  if (stored.trashed_at !== null) return stored.id
  await store.updateTrashed(work.sql, stored.id, work.now)
  audit(work, { action: 'user_trashed', target: toTarget(stored) })
  work.changed('user_trashed', 'user', stored.id)
  return stored.id
})

export const restoreUser = globalCommand('restoreUser', async (work: GlobalWork, user: string) => {
  const stored = await requireUser(work, user)
  if (stored.trashed_at === null) return
  await store.updateTrashed(work.sql, stored.id, null)
  audit(work, { action: 'user_restored', target: toTarget(stored) })
  work.changed('user_restored', 'user', stored.id)
})

/** Deletes a user: profile, tokens and directory memberships. The user's content stays, by the deleted user. */
export const deleteUser = globalCommand('deleteUser', async (work: GlobalWork, user: string) => {
  const stored = await requireUser(work, user)
  await store.removeUser(work.sql, stored.id)
  audit(work, { action: 'user_deleted', target: toTarget(stored) })
  work.changed('user_deleted', 'user', stored.id)
})

/** Locks the user that `{user}` names. 404 for unknown ones and for agents, which have operations of their own. */
async function requireUser(work: GlobalWork, user: string): Promise<StoredUser> {
  const stored = await store.lockUser(work.sql, user)
  if (stored === null || stored.is_agent) throw NotFound()
  if (stored.id <= 0) throw SpecialUser()
  return stored
}

/** 422 where the text cannot be a uid: digits would be an id. */
export function requireUid(uid: string): void {
  const checked = UidInput.safeParse(uid)
  if (!checked.success) throw invalid({ uid: checked.error.issues.map(issue => issue.message) })
}

async function change(work: GlobalWork, stored: StoredUser, given: UserChange): Promise<Saved> {
  if (stored.is_agent) throw invalid(uidTaken)
  await updateProfile(work, stored, { ...given, uid: given.uid ?? undefined })
  return { id: stored.id, isNew: false }
}
