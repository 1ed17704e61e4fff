import { isDeepStrictEqual } from 'node:util'
import { blankProfile } from '../../auth/user-cache.ts'
import type { GlobalWork } from '../../engine/global/command.ts'
import { audit, differences } from '../../audit/audit.ts'
import { invalid } from '../../lib/errors.ts'
import { foldName } from '../../lib/name.ts'
import { violatedConstraint } from '../../postgres/sql.ts'
import type { UserUpdate } from './schema.ts'
import * as store from './store.ts'
import type { StoredUser, UserRow } from './store.ts'

/** A change of a user or agent, with the password already hashed: that takes longer than a transaction should. */
export interface UserChange extends Omit<UserUpdate, 'password' | 'picture'> {
  /** The id of a blob. */
  picture?: number | null | undefined
  /** Where it was taken from, by a token of the host. */
  picture_url?: string | undefined
  /** When the token of the host was issued that says so. */
  claimed_at?: Date | undefined
  password_hash?: string | null | undefined
}

/** Fields whose values the audit log shows: identity and visibility. The others are personal. */
const shownFields = ['uid', 'username', 'directories'] as const

/** A user or agent as a target in the audit log. */
export function toTarget({ id, uid, is_agent }: StoredUser) {
  return { type: is_agent ? 'agent' : 'user', id, name: uid }
}

export const uidTaken = { uid: ['is taken by another user or agent'] }

/** Mentions name users by id in this form, so that it would mean another user. */
const idInMentions = /^u\d{1,15}$/
const meansAnother = { uid: ['must not be u and digits but for the own id: in a mention, it is the user with that id'] }

interface NewProfile {
  given: UserChange & { uid: string }
  isAgent: boolean
}

/**
 * Inserts a user or agent with its directories. Null where its uid is taken; 422 for a uid that means another user, a
 * taken username and unknown directories.
 */
export async function createProfile(work: GlobalWork, { given, isAgent }: NewProfile): Promise<number | null> {
  const { sql, now } = work
  const directories = await requireDirectories(work, given.directories ?? [])
  const row = { ...merge({ id: null, ...blankProfile }, given), is_agent: isAgent, created_at: now }
  const id = await refusing(() => store.insertUser(sql, row))
  if (id === null) {
    if (idInMentions.test(foldName(given.uid))) throw invalid(meansAnother)
    return null
  }
  if (given.password_hash) await store.updatePassword(sql, id, given.password_hash)
  if (directories.length > 0) await store.replaceDirectories(sql, id, directories)
  audit(work, {
    action: isAgent ? 'agent_created' : 'user_created',
    target: { type: isAgent ? 'agent' : 'user', id, name: given.uid },
    after: { uid: given.uid, ...(directories.length > 0 && { directories }) },
  })
  work.changed('user_created', 'user', id, isAgent ? { is_agent: true } : null)
  return id
}

/**
 * Updates a user or agent where something has changed, unless a newer token of the host has. `isTouched`: another part of
 * it has changed, so it is updated in any case.
 */
export async function updateProfile(
  work: GlobalWork,
  stored: StoredUser,
  given: UserChange,
  isTouched = false,
): Promise<void> {
  const { sql, now } = work
  if (given.claimed_at && stored.claimed_at && given.claimed_at < stored.claimed_at) return
  const directories =
    given.directories === undefined ? stored.directory_ids : await requireDirectories(work, given.directories ?? [])
  const merged = merge(stored, given)
  const { claimed_at } = stored
  const isMoved = !isDeepStrictEqual(directories, stored.directory_ids)
  const isSame =
    given.password_hash === undefined && !isMoved && isDeepStrictEqual(merge(stored, {}), { ...merged, claimed_at })
  if (isSame && !isTouched) return
  const uid = foldName(merged.uid ?? '')
  if (merged.uid !== stored.uid && idInMentions.test(uid) && uid !== `u${stored.id}`) throw invalid(meansAnother)
  await refusing(() => store.updateUser(sql, stored.id, { ...merged, updated_at: now }))
  if (given.password_hash !== undefined) await store.updatePassword(sql, stored.id, given.password_hash)
  if (isMoved) await store.replaceDirectories(sql, stored.id, directories)
  const changed = differences(
    { ...merge(stored, {}), directories: stored.directory_ids, password: false },
    { ...merged, directories, password: given.password_hash !== undefined },
    shownFields,
  )
  const action = stored.is_agent ? 'agent_updated' : 'user_updated'
  if (changed !== null) audit(work, { action, target: toTarget(stored), ...changed })
  work.changed('user_updated', 'user', stored.id)
}

/** Ascending ids. 422 names unknown references. */
async function requireDirectories({ sql }: GlobalWork, refs: string[]): Promise<number[]> {
  if (refs.length === 0) return []
  const found = await store.resolveDirectories(sql, refs)
  const unknown = refs.filter(ref => !found.has(ref))
  if (unknown.length > 0) throw invalid({ directories: [`unknown: ${unknown.join(', ')}`] })
  return [...new Set(found.values())].sort((a, b) => a - b)
}

/** Turns the violation of a unique index into its refusal. */
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

type Profile = Omit<UserRow, 'display_name'>

/** The row after applying `given`, with derived columns. */
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
    picture_url: pick('picture_url'),
    claimed_at: pick('claimed_at'),
    metadata: pick('metadata'),
    tags: pick('tags') ?? [],
  }
  return { ...profile, display_name: toDisplayName(before.id, profile) }
}

type Names = Pick<Profile, 'uid' | 'name' | 'nickname' | 'username' | `${'given' | 'middle' | 'family'}_name`>

/** The display name: the first of the given names. */
export function toDisplayName(id: number | null, { uid, name, nickname, username, ...parts }: Names): string {
  const { given_name, middle_name, family_name } = parts
  const joined = [given_name, middle_name, family_name].filter(part => part !== null).join(' ')
  return name ?? (joined || null) ?? nickname ?? username ?? uid ?? `User ${id}`
}
