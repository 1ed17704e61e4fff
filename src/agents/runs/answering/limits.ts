import type { Db } from '../../../postgres/sql.ts'
import type { RunError, RunRow } from '../run.ts'

/** The limits of runs; 0: none. */
export interface RunLimits {
  /** Runs begun within a minute by one asker, and in one app. */
  perUser: number
  perApp: number
  /** Tokens of one agent in a UTC day. */
  tokensPerDay: number
}

/** A refused run; `isTold`: it is the first of several, and gets an error reply. */
export interface OverLimit {
  error: Extract<RunError, 'rate_limited' | 'budget_exceeded'>
  isTold: boolean
}

/**
 * The limit that a new run exceeds, counting the runs of all nodes; null where it may proceed. Refused runs do not
 * count. Served by agent_runs_asker, agent_runs_app_began and agent_runs_agent.
 */
export async function findOverLimit(db: Db, run: RunRow, limits: RunLimits): Promise<OverLimit | null> {
  // A run that continues after a crash or an approval was admitted before.
  if (run.provider !== null) return null
  const { perUser, perApp, tokensPerDay } = limits
  if (perUser > 0 || perApp > 0) {
    const recent = (column: 'asker_id' | 'app_id', value: number, limit: number) =>
      limit === 0
        ? db`0`
        : db`(select count(*) from (
            select from agent_runs where ${db(column)} = ${value} and began_at > now() - interval '1 minute'
              and id <> ${run.id} and error is distinct from 'rate_limited' limit ${limit}) x)`
    const [counts] = await db<{ user: number; app: number; told: boolean }[]>`
      select ${recent('asker_id', run.asker_id, perUser)} as "user", ${recent('app_id', run.app_id, perApp)} as app,
        exists (select from agent_runs where asker_id = ${run.asker_id} and began_at > now() - interval '1 minute'
          and error = 'rate_limited' and reply_id is not null) as told`
    const isOver = (perUser > 0 && counts!.user >= perUser) || (perApp > 0 && counts!.app >= perApp)
    if (isOver) return { error: 'rate_limited', isTold: !counts!.told }
  }
  if (tokensPerDay === 0) return null
  const [spent] = await db<{ tokens: number; told: boolean }[]>`
    select coalesce(sum(tokens_in + tokens_out), 0)::bigint as tokens,
      exists (select from agent_runs where conversation = ${run.conversation} and error = 'budget_exceeded'
        and reply_id is not null and ended_at > now() - interval '1 hour') as told
    from agent_runs where agent_id = ${run.agent_id}
      and began_at >= date_trunc('day', now() at time zone 'utc') at time zone 'utc'`
  return spent!.tokens >= tokensPerDay ? { error: 'budget_exceeded', isTold: !spent!.told } : null
}
