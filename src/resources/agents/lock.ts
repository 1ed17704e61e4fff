import type { GlobalWork } from '../../engine/global-commands.ts'
import { NotFound } from '../../lib/errors.ts'
import { lockUser, type StoredUser } from '../users/store.ts'

/** The agent behind `{agent}`, locked against other changes. 404 for nobody and for people. */
export async function requireAgent({ sql }: GlobalWork, agent: string): Promise<StoredUser> {
  const stored = await lockUser(sql, agent)
  if (stored === null || !stored.is_agent) throw NotFound()
  return stored
}

/** The same for what hangs on it, which is out of sight with an agent in the trash. */
export async function requireActive(work: GlobalWork, agent: string): Promise<number> {
  const stored = await requireAgent(work, agent)
  if (stored.trashed_at !== null) throw NotFound()
  return stored.id
}
