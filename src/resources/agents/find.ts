import { NotFound } from '../../lib/errors.ts'
import type { Db } from '../../postgres/sql.ts'
import { findAgent } from './store.ts'

/** The id for `{agent}`. 404 for unknown ones, users, and agents in the trash. */
export async function requireAgentId(db: Db, ref: string): Promise<number> {
  const agent = await findAgent(db, ref)
  if (agent === null || agent.person.trashed_at !== null) throw NotFound()
  return agent.person.id
}
