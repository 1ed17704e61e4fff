import type { UserCache } from '../../../auth/user-cache.ts'
import type { RunChange } from '../../../agents/runs/host.ts'
import type { RunRow } from '../../../agents/runs/run.ts'
import type { Db } from '../../../postgres/sql.ts'
import { actorOf } from '../../users/represent.ts'

/** The most runs of an app that are shown at work. A guess, above what an app has. */
const shownRuns = 20

/** The runs of an app that are not over, newest first. Served by agent_runs_open. */
export function listAtWork(db: Db, app: number): Promise<RunRow[]> {
  return db<RunRow[]>`
    select * from agent_runs where app_id = ${app} and state in ('queued', 'running', 'waiting')
    order by id desc limit ${shownRuns}`
}

/** A run as realtime clients see it; its agent is in memory. */
export function showRun(
  { id, agent_id, item_type, item_id, parent_type, parent_id }: RunRow,
  { state, tool, isRestarted, reply, error }: RunChange,
  { userCache, origin }: { userCache: UserCache; origin: string },
) {
  return {
    id,
    state,
    agent: actorOf(userCache.show(agent_id), origin),
    item: { type: item_type, id: item_id },
    parent: parent_id === null ? null : { type: parent_type, id: parent_id },
    tool: tool ?? null,
    restarted: isRestarted ? true : null,
    reply: reply ?? null,
    error: error ?? null,
  }
}
