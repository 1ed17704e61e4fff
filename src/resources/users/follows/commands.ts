import { globalCommand, type GlobalWork } from '../../../engine/global/command.ts'
import { invalid, NotFound } from '../../../lib/errors.ts'
import { SpecialUser } from '../schema.ts'
import { findPerson, findUserId, holdUsers } from '../store.ts'
import { insertFollow, removeFollow } from './store.ts'

/**
 * Lets the caller follow a user or agent; repeating changes nothing. Returns the id. Refuses with 404 for users whom
 * the caller cannot see, 403 for the special users, 422 for oneself.
 */
export const follow = globalCommand('follow', async (work: GlobalWork, user: string): Promise<number> => {
  const followed = await requireOther(work, user)
  if (!(await holdUsers(work.sql, [work.by.user, followed]))) throw NotFound()
  await insertFollow(work.sql, { user: work.by.user, followed }, work.now)
  return followed
})

/** Ends following a user, even one whom the caller cannot see any more. Otherwise refuses as `follow`. */
export const unfollow = globalCommand('unfollow', async (work: GlobalWork, user: string): Promise<number> => {
  const { sql, by } = work
  const followed = await findUserId(sql, user)
  const isEnded = followed !== null && (await removeFollow(sql, { user: by.user, followed }))
  return isEnded ? followed : requireOther(work, user)
})

async function requireOther({ sql, by }: GlobalWork, user: string): Promise<number> {
  const person = await findPerson(sql, user, by)
  if (person === null || person.trashed_at !== null) throw NotFound()
  if (person.id <= 0) throw SpecialUser()
  if (person.id === by.user) throw invalid({ user: ['must be another user'] })
  return person.id
}
