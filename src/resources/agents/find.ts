import type { GlobalWork } from '../../engine/global/command.ts'
import { NotFound } from '../../lib/errors.ts'
import type { Db } from '../../postgres/sql.ts'
import { lockUser, type StoredUser } from '../users/store.ts'
import { findAgent } from './store.ts'

/** The id for `{agent}`. 404 for unknown ones, users, and agents in the trash. */
export async function requireAgentId(db: Db, ref: string): Promise<number> {
  const agent = await findAgent(db, ref)
  if (agent === null || agent.person.trashed_at !== null) throw NotFound()
  return agent.person.id
}

/** Locks the agent that `{agent}` names. 404 for unknown ones and for users. */
export async function lockAgent({ sql }: GlobalWork, agent: string): Promise<StoredUser> {
  const stored = await lockUser(sql, agent)
  if (stored === null || !stored.is_agent) throw NotFound()
  return stored
}

/** As `lockAgent`, with 404 for an agent in the trash too. */
export async function lockActive(work: GlobalWork, agent: string): Promise<StoredUser> {
  const stored = await lockAgent(work, agent)
  if (stored.trashed_at !== null) throw NotFound()
  return stored
}
