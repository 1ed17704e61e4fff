import type { SharedLog } from '../../../log/shared-log.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { listAllAgents } from '../store.ts'

/**
 * All agents in memory: few, and looked up for every message of a chat. Agents change through the shared log, whose rev
 * every commit checks under its lock, so a commit's decisions about them are current.
 */
export class KnownAgents {
  readonly #sql: Sql
  /** Id → true where the agent is not in the trash. */
  readonly #agents = new Map<number, boolean>()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  get isEmpty(): boolean {
    return this.#agents.size === 0
  }

  isAgent(user: number): boolean {
    return this.#agents.has(user)
  }

  /** True for an agent that is not in the trash. */
  isActive(user: number): boolean {
    return this.#agents.get(user) === true
  }

  /** Loads all agents, and follows changes. Call it after the shared log was started. */
  async follow(sharedLog: SharedLog): Promise<void> {
    sharedLog.listen(async ({ type, entity_type, entity_id, facts }) => {
      if (type === 'everything') return await this.#load()
      if (entity_type !== 'user') return
      if (type === 'user_created' && facts?.is_agent === true) this.#agents.set(entity_id, true)
      if (!this.#agents.has(entity_id)) return
      if (type === 'user_deleted') this.#agents.delete(entity_id)
      else if (type === 'user_trashed') this.#agents.set(entity_id, false)
      else if (type === 'user_restored') this.#agents.set(entity_id, true)
    })
    await this.#load()
  }

  async #load(): Promise<void> {
    const rows = await listAllAgents(this.#sql)
    this.#agents.clear()
    for (const { id, is_active } of rows) this.#agents.set(id, is_active)
  }
}
