import { batch, type Batch } from '../../postgres/batch.ts'
import type { Db } from '../../postgres/sql.ts'
import type { Lease } from './lease-store.ts'
import { queueRunDeliveries, runJson } from './deliveries.ts'
import { RunLost, type RunRow } from './run.ts'

/** Waiting runs of one conversation; beyond it, the oldest are merged into later ones. A guess. */
const waitingLimit = 3

/** A run that has not begun within this time of its trigger expires. */
const expiryMinutes = 60

/** A run to insert with the commit of its trigger. */
export type NewRun = Pick<
  RunRow,
  | 'agent_id'
  | 'app_id'
  | 'item_type'
  | 'item_id'
  | 'parent_type'
  | 'parent_id'
  | 'asker_id'
  | 'conversation'
  | 'created_at'
>

/** At most one for each agent and item, for ever. */
export const insertRuns = batch<NewRun>({
  name: 'insert_agent_runs',
  columns: {
    agent_id: 'bigint',
    app_id: 'bigint',
    item_type: 'text',
    item_id: 'bigint',
    parent_type: 'text',
    parent_id: 'bigint',
    asker_id: 'bigint',
    conversation: 'text',
    created_at: 'timestamptz',
  },
  sql: (rows, columns) => `
    insert into agent_runs (${columns}) select ${columns} from ${rows} r on conflict (agent_id, item_type, item_id) do nothing`,
})

/** Cancels the open runs of items that are not visible any more. Served by agent_runs_item. */
export const cancelRunsOfItems = batch({
  name: 'cancel_agent_runs_of_items',
  columns: { item_type: 'text', item_id: 'bigint', at: 'timestamptz' },
  key: row => `${row.item_type}:${row.item_id}`,
  sql: rows => `
    update agent_runs a set state = 'cancelled', ended_at = r.at, leased_by = null, leased_until = null
    from ${rows} r
    where a.item_id = r.item_id and a.item_type = r.item_type and a.state in ('queued', 'running', 'waiting')`,
})

/** Cancels the open runs in apps. Served by agent_runs_open. */
export const cancelRunsOfApps = batch({
  name: 'cancel_agent_runs_of_apps',
  columns: { app_id: 'bigint', at: 'timestamptz' },
  key: row => row.app_id,
  sql: rows => `
    update agent_runs a set state = 'cancelled', ended_at = r.at, leased_by = null, leased_until = null
    from ${rows} r where a.app_id = r.app_id and a.state in ('queued', 'running', 'waiting')`,
})

/** Cancels the open runs of an agent. Served by agent_runs_open. */
export async function cancelRunsOfAgent(db: Db, agent: number, at: Date): Promise<void> {
  await db`
    update agent_runs set state = 'cancelled', ended_at = ${at}, leased_by = null, leased_until = null
    where agent_id = ${agent} and state in ('queued', 'running', 'waiting')`
}

/** The end of a run, written by the commit of its reply. */
export interface RunEnd extends Pick<
  RunRow,
  'id' | 'state' | 'error' | 'finish' | 'reply_type' | 'reply_id' | 'busy_ms'
> {
  ended_at: Date
}

const runEnd: Batch<RunEnd>['columns'] = {
  id: 'bigint',
  state: 'text',
  error: 'text',
  finish: 'text',
  reply_type: 'text',
  reply_id: 'bigint',
  busy_ms: 'int',
  ended_at: 'timestamptz',
}

export const endRuns = batch<RunEnd>({
  name: 'end_agent_runs',
  columns: runEnd,
  key: row => row.id,
  sql: rows => `
    update agent_runs a set state = r.state, error = r.error, finish = r.finish,
      reply_type = coalesce(r.reply_type, a.reply_type), reply_id = coalesce(r.reply_id, a.reply_id),
      busy_ms = a.busy_ms + r.busy_ms, ended_at = r.ended_at, leased_by = null, leased_until = null
    from ${rows} r where a.id = r.id`,
})

/** Queues webhook deliveries for ended runs. Runs in the statement that ends them, and sees the runs as before. */
export const queueEndDeliveries = batch<RunEnd>({
  name: 'tell_agent_run_ends',
  columns: runEnd,
  sql: rows =>
    queueRunDeliveries(`
      select case r.state when 'done' then 'run_done' else 'run_failed' end as action, a.agent_id as actor_id,
        ${runJson('a')} || (to_jsonb(r) - 'busy_ms') as run, null::jsonb as approval, r.ended_at as at
      from ${rows} r join agent_runs a on a.id = r.id where r.state in ('done', 'failed')`),
})

/**
 * Ends the oldest waiting runs of conversations above the limit as merged: later runs have their triggers in the
 * history. Runs that have begun do not count. Returns the ended runs.
 */
export function mergeSurplus(db: Db): Promise<RunRow[]> {
  return db<RunRow[]>`
    update agent_runs r set state = 'merged', ended_at = now()
    from (
      select id, row_number() over (partition by conversation order by id desc) as place
      from agent_runs where state = 'queued' and began_at is null
    ) q
    where r.id = q.id and q.place > ${waitingLimit} and r.state = 'queued' and r.began_at is null
    returning r.*`
}

/** Ends runs that did not begin in time; returns them. */
export function expireRuns(db: Db): Promise<RunRow[]> {
  return db<RunRow[]>`
    update agent_runs set state = 'expired', ended_at = now()
    where state = 'queued' and began_at is null
      and greatest(created_at, due_at) < now() - make_interval(mins => ${expiryMinutes})
    returning *`
}

/** Runs that have waited for a while for their turn, `limit` at most. Served by agent_runs_due. */
export function listWaiting(db: Db, seconds: number, limit: number): Promise<RunRow[]> {
  return db<RunRow[]>`
    select * from agent_runs
    where state = 'queued' and due_at < now() - make_interval(secs => ${seconds})
    order by due_at, id limit ${limit}`
}

/** A condition: a run is open. Served by agent_runs_open. */
export const isAnyOpen = `exists (select from agent_runs where state in ('queued', 'running', 'waiting'))`

/** Queues the runs whose last question was decided; returns how many. */
export async function resumeRuns(db: Db): Promise<number> {
  const { count } = await db`
    update agent_runs r set state = 'queued', due_at = now()
    where r.state = 'waiting'
      and not exists (select from agent_approvals a where a.run_id = r.id and a.state in ('pending', 'lapsed'))`
  return count
}

/** The run, locked as by `lockRun`, where a user has cancelled it and keeps its text, which was not posted yet. */
export async function lockKept(db: Db, { run }: Lease): Promise<RunRow> {
  const [row] = await db<RunRow[]>`
    select * from agent_runs
    where id = ${run} and state = 'cancelled' and keeps_text and reply_id is null for update`
  if (row === undefined) throw new RunLost('There is nothing to keep of the run')
  return row
}

export async function findRun(db: Db, run: number): Promise<RunRow | null> {
  const [row] = await db<RunRow[]>`select * from agent_runs where id = ${run}`
  return row ?? null
}

/** Removes runs that ended before a time, `limit` at most; returns how many. Served by agent_runs_ended. */
export async function removeEnded(db: Db, before: Date, limit: number): Promise<number> {
  const { count } = await db`
    delete from agent_runs where id in (
      select id from agent_runs where ended_at < ${before} order by ended_at limit ${limit} for update skip locked)`
  return count
}

/** The id of the conversation at a provider that keeps conversations; null where there is none. */
export async function findThread(
  db: Db,
  { agent_id, conversation }: Pick<RunRow, 'agent_id' | 'conversation'>,
): Promise<string | null> {
  const [row] = await db<{ thread: string }[]>`
    select thread from agent_threads where agent_id = ${agent_id} and conversation = ${conversation}`
  return row?.thread ?? null
}

export async function saveThread(
  db: Db,
  { agent_id, conversation }: Pick<RunRow, 'agent_id' | 'conversation'>,
  thread: string,
): Promise<void> {
  await db`
    insert into agent_threads (agent_id, conversation, thread, used_at)
    values (${agent_id}, ${conversation}, ${thread}, now())
    on conflict (agent_id, conversation) do update set thread = excluded.thread, used_at = excluded.used_at`
}
