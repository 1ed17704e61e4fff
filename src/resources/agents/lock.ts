import type { GlobalWork } from '../../engine/global/command.ts'
import { NotFound } from '../../lib/errors.ts'
import { lockUser, type StoredUser } from '../users/store.ts'

/** Locks the agent that `{agent}` names. 404 for unknown ones and for users. */
export async function requireAgent({ sql }: GlobalWork, agent: string): Promise<StoredUser> {
  const stored = await lockUser(sql, agent)
  if (stored === null || !stored.is_agent) throw NotFound()
  return stored
}

/** As `requireAgent`, with 404 for an agent in the trash too. */
export async function requireActive(work: GlobalWork, agent: string): Promise<number> {
  const stored = await requireAgent(work, agent)
  if (stored.trashed_at !== null) throw NotFound()
  return stored.id
}
