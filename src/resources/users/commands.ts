import { isDeepStrictEqual } from 'node:util'
import { directCommand, type DirectWork } from '../../actors/direct.ts'
import { NotFound, invalid } from '../../lib/errors.ts'
import { violatedConstraint } from '../../storage/sql.ts'
import { toWords } from '../../storage/words.ts'
import { PersonUid, SpecialUser, type UserUpdate } from './schema.ts'
import * as store from './store.ts'
import type { StoredUser, UserRow } from './store.ts'

/** What is asked of a user, its password already hashed: that takes longer than a transaction should. */
export interface UserChange extends Omit<UserUpdate, 'password' | 'picture'> {
  picture?: null | undefined
  password_hash?: string | null | undefined
}

export interface Saved {
  id: number
  isNew: boolean
}

const uidTaken = { uid: ['is taken by another user or agent'] }

/** Makes a user. Refuses with 422 for a uid or username that is taken, and for unknown directories. */
export const createUser = directCommand(
  'createUser',
  async (work: DirectWork, given: UserChange & { uid: string }): Promise<Saved> => {
    const id = await create(work, given)
    if (id === null) throw invalid(uidTaken)
    return { id, isNew: true }
  },
)

/**
 * Changes a user: absent members stay, null clears. What changes nothing leaves no trace. Refuses with 404 for trashed
 * users and agents, 403 for the special users, 422 as `createUser`.
 */
export const updateUser = directCommand(
  'updateUser',
  async (work: DirectWork, { user, given }: { user: string; given: UserChange }): Promise<Saved> => {
    const stored = await requireUser(work, user)
    if (stored.trashed_at !== null) throw NotFound()
    await update(work, stored, given)
    return { id: stored.id, isNew: false }
  },
)

/** Makes the user with this uid, or changes it as `updateUser` does; a trashed one is changed too and stays trashed. */
export const upsertUser = directCommand(
  'upsertUser',
  async (work: DirectWork, { uid, given }: { uid: string; given: UserChange }): Promise<Saved> => {
    requireUid(uid)
    const stored = await store.lockUser(work.sql, uid)
    if (stored !== null) return change(work, stored, given)
    if (given.uid != null && given.uid.toLowerCase() !== uid.toLowerCase()) {
      throw invalid({ uid: ['must be the one in the path'] })
    }
    const id = await create(work, { ...given, uid })
    if (id !== null) return { id, isNew: true }
    // Somebody else made it since: their commit is over, so the row is there now.
    const made = await store.lockUser(work.sql, uid)
    if (made === null) throw invalid(uidTaken)
    return change(work, made, given)
  },
)

/** Takes a user out of sight; its tokens stop being valid. Answers its id. Repeating changes nothing. */
export const trashUser = directCommand('trashUser', async (work: DirectWork, user: string): Promise<number> => {
  const stored = await requireUser(work, user)
  if (stored.trashed_at !== null) return stored.id
  await store.updateTrashed(work.sql, stored.id, work.now)
  work.changed('user_trashed', 'user', stored.id)
  return stored.id
})

export const restoreUser = directCommand('restoreUser', async (work: DirectWork, user: string) => {
  const stored = await requireUser(work, user)
  if (stored.trashed_at === null) return
  await store.updateTrashed(work.sql, stored.id, null)
  work.changed('user_restored', 'user', stored.id)
})

/** Ends an account: profile, tokens and directory memberships. What the user wrote stays, by the deleted user. */
export const deleteUser = directCommand('deleteUser', async (work: DirectWork, user: string) => {
  const stored = await requireUser(work, user)
  await store.removeUser(work.sql, stored.id)
  work.changed('user_deleted', 'user', stored.id)
})

/** The person behind `{user}`, locked. 404 for nobody and for agents, which have operations of their own. */
async function requireUser(work: DirectWork, user: string): Promise<StoredUser> {
  const stored = await store.lockUser(work.sql, user)
  if (stored === null || stored.is_agent) throw NotFound()
  if (stored.id <= 0) throw SpecialUser()
  return stored
}

/** Digits would be an id: what can be no uid cannot be made, nor found by this name. */
function requireUid(uid: string): void {
  const checked = PersonUid.safeParse(uid)
  if (!checked.success) throw invalid({ uid: checked.error.issues.map(issue => issue.message) })
}

async function change(work: DirectWork, stored: StoredUser, given: UserChange): Promise<Saved> {
  if (stored.is_agent) throw invalid(uidTaken)
  await update(work, stored, given)
  return { id: stored.id, isNew: false }
}

async function create(work: DirectWork, given: UserChange & { uid: string }): Promise<number | null> {
  const { sql, now } = work
  const directories = await requireDirectories(work, given.directories ?? [])
  const id = await refusing(() => store.insertUser(sql, { ...merge(blank, given), created_at: now }))
  if (id === null) return null
  if (given.password_hash) await store.updatePassword(sql, id, given.password_hash)
  await store.replaceDirectories(sql, id, directories)
  work.changed('user_created', 'user', id)
  return id
}

async function update(work: DirectWork, stored: StoredUser, given: UserChange): Promise<void> {
  const { sql, now } = work
  const directories =
    given.directories === undefined ? stored.directory_ids : await requireDirectories(work, given.directories ?? [])
  const merged = merge(stored, given)
  const isMoved = !isDeepStrictEqual(directories, stored.directory_ids)
  if (given.password_hash === undefined && !isMoved && isDeepStrictEqual(merge(stored, {}), merged)) return
  await refusing(() => store.updateUser(sql, stored.id, { ...merged, updated_at: now }))
  if (given.password_hash !== undefined) await store.updatePassword(sql, stored.id, given.password_hash)
  if (isMoved) await store.replaceDirectories(sql, stored.id, directories)
  work.changed('user_updated', 'user', stored.id)
}

/** Ascending ids. 422 names those that are unknown. */
async function requireDirectories({ sql }: DirectWork, refs: string[]): Promise<number[]> {
  if (refs.length === 0) return []
  const found = await store.resolveDirectories(sql, refs)
  const unknown = refs.filter(ref => !found.has(ref))
  if (unknown.length > 0) throw invalid({ directories: [`unknown: ${unknown.join(', ')}`] })
  return [...new Set(found.values())].sort((a, b) => a - b)
}

/** Turns running into a unique index into the refusal that it means. */
async function refusing<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    const constraint = violatedConstraint(error)
    if (constraint === 'users_uid') throw invalid(uidTaken)
    if (constraint === 'users_username') throw invalid({ username: ['is taken by another user'] })
    throw error
  }
}

type Profile = Omit<UserRow, 'display_name' | 'search'>

const blank: Profile & { id: number | null } = {
  id: null,
  uid: null,
  name: null,
  given_name: null,
  middle_name: null,
  family_name: null,
  nickname: null,
  email: null,
  phone_number: null,
  username: null,
  comment: null,
  picture_id: null,
  metadata: null,
  tags: [],
}

/** The row that `given` leaves behind, with what follows from it. */
function merge(before: Profile & { id: number | null }, given: UserChange): UserRow {
  const pick = <Field extends keyof UserChange & keyof Profile>(field: Field) =>
    given[field] === undefined ? before[field] : (given[field] as Profile[Field])
  const profile: Profile = {
    uid: pick('uid'),
    name: pick('name'),
    given_name: pick('given_name'),
    middle_name: pick('middle_name'),
    family_name: pick('family_name'),
    nickname: pick('nickname'),
    email: pick('email'),
    phone_number: pick('phone_number'),
    username: pick('username'),
    comment: pick('comment') || null,
    picture_id: given.picture === undefined ? before.picture_id : given.picture,
    metadata: pick('metadata'),
    tags: pick('tags') ?? [],
  }
  return { ...profile, display_name: toDisplayName(before.id, profile), search: toSearch(profile) }
}

/** What a user is called: the first of its names that was given. */
function toDisplayName(id: number | null, { uid, name, nickname, username, ...parts }: Profile): string {
  const joined = [parts.given_name, parts.middle_name, parts.family_name].filter(part => part !== null).join(' ')
  return name ?? (joined || null) ?? nickname ?? username ?? uid ?? `User ${id}`
}

function toSearch({ uid, name, given_name, middle_name, family_name, nickname, email, username }: Profile): string {
  return toWords([name, uid, given_name, middle_name, family_name, nickname, email, username]).join(' ')
}
