import type { RunRow, RunState } from '../../../agents/runs/run.ts'
import type { Page } from '../../../api/page.ts'
import type { Db } from '../../../postgres/sql.ts'

/** A run with its questions. */
export interface ListedRun extends RunRow {
  approvals: number[]
}

export interface RunFilter {
  agent?: number | undefined
  app?: number | undefined
  asker?: number | undefined
  state?: RunState | undefined
  error?: string | undefined
  since?: Date | undefined
  until?: Date | undefined
  isOpen?: boolean
}

/** Runs, newest first, and the total. Served by agent_runs_agent, agent_runs_app, agent_runs_open. */
export async function listRuns(
  db: Db,
  { agent, app, asker, state, error, since, until, isOpen }: RunFilter,
  { skip, take, countOnly }: Pick<Page, 'skip' | 'take' | 'countOnly'>,
): Promise<{ rows: ListedRun[]; count: number }> {
  const filter = db`true
    ${agent === undefined ? db`` : db`and r.agent_id = ${agent}`}
    ${app === undefined ? db`` : db`and r.app_id = ${app}`}
    ${asker === undefined ? db`` : db`and r.asker_id = ${asker}`}
    ${state === undefined ? db`` : db`and r.state = ${state}`}
    ${isOpen ? db`and r.state in ('queued', 'running', 'waiting')` : db``}
    ${error === undefined ? db`` : db`and r.error = ${error}`}
    ${since === undefined ? db`` : db`and r.created_at >= ${since}`}
    ${until === undefined ? db`` : db`and r.created_at < ${until}`}`
  const [total] = await db<{ count: number }[]>`select count(*) as count from agent_runs r where ${filter}`
  const rows = countOnly
    ? []
    : await db<ListedRun[]>`${select(db)} where ${filter} order by r.id desc limit ${take} offset ${skip}`
  return { rows, count: total!.count }
}

export async function findListed(db: Db, run: number): Promise<ListedRun | null> {
  const [row] = await db<ListedRun[]>`${select(db)} where r.id = ${run}`
  return row ?? null
}

const select = (db: Db) => db`
  select r.*, array(select a.id from agent_approvals a where a.run_id = r.id order by a.step) as approvals
  from agent_runs r`

/** Ends an open run at once, and returns it with its former state; null where it has ended already. */
export async function cancelRun(
  db: Db,
  run: number,
  keepsText: boolean,
): Promise<(RunRow & { state_before: RunState }) | null> {
  const [row] = await db<(RunRow & { state_before: RunState })[]>`
    with open as (
      select id, state from agent_runs where id = ${run} and state in ('queued', 'running', 'waiting') for update
    )
    update agent_runs r set state = 'cancelled', keeps_text = ${keepsText}, ended_at = now()
    from open o where r.id = o.id returning r.*, o.state as state_before`
  return row ?? null
}

/** Queues a run again that has ended without an answer; false for any other. */
export async function retryRun(db: Db, run: number): Promise<boolean> {
  const { count } = await db`
    with again as (
      update agent_runs set state = 'queued', retries = retries + 1, due_at = now(), attempts = 0, keeps_text = false,
        leased_by = null, leased_until = null, provider = null, model = null, error = null, finish = null,
        tokens_in = 0, tokens_out = 0, tokens_cached = 0, rounds = 0, calls = 0, began_at = null, first_text_at = null,
        ended_at = null, busy_ms = 0
      where id = ${run} and state in ('failed', 'cancelled', 'expired') returning id
    ), steps as (
      delete from agent_steps s using again where s.run_id = again.id
    ), questions as (
      delete from agent_approvals a using again where a.run_id = again.id
    )
    select from again`
  return count > 0
}

export interface UsageRow {
  key: string
  runs: number
  errors: number
  input: number
  output: number
  cached: number
  p50: number | null
  p95: number | null
}

/** Usage by day, agent, asker or model; the most expensive first, a thousand at most. */
export function sumUsage(
  db: Db,
  { since, until, by }: { since: Date; until: Date; by: 'day' | 'agent' | 'user' | 'model' },
): Promise<UsageRow[]> {
  const key = {
    day: db`to_char(created_at at time zone 'utc', 'YYYY-MM-DD')`,
    agent: db`agent_id::text`,
    user: db`asker_id::text`,
    model: db`coalesce(provider || '/' || model, '')`,
  }[by]
  return db<UsageRow[]>`
    with counted as (
      select ${key} as key, error, tokens_in, tokens_out, tokens_cached,
        case when reply_id is not null then extract(epoch from ended_at - created_at) * 1000 end as ms
      from agent_runs where created_at >= ${since} and created_at < ${until}
    )
    select key, count(*) as runs, count(error) as errors, coalesce(sum(tokens_in), 0)::bigint as input,
      coalesce(sum(tokens_out), 0)::bigint as output, coalesce(sum(tokens_cached), 0)::bigint as cached,
      round(percentile_cont(0.5) within group (order by ms))::int as p50,
      round(percentile_cont(0.95) within group (order by ms))::int as p95
    from counted group by key order by sum(tokens_in + tokens_out) desc, key limit 1000`
}
