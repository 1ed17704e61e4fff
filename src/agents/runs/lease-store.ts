import type { Db } from '../../postgres/sql.ts'
import { queueRunDeliveries, runJson } from './deliveries.ts'
import { RunLost, type RunError, type RunRow, type RunState } from './run.ts'

/** The length of a lease that is not renewed, by the specification of runs. */
export const leaseSeconds = 15

/** Concurrent runs of one agent in one app, on all nodes. A guess: what the members of a room can read. */
const runningLimit = 4

/** The node that works on a run; writes for the run require that it still does. */
export interface Lease {
  run: number
  node: string
}

/**
 * Leases the run that has waited longest and may begin, or continue because its node is gone; null without one. One of
 * a conversation at a time, in the order of their triggers. Two concurrent nodes may exceed an agent's limit in an app
 * by one: harmless. Served by agent_runs_due, agent_runs_conversation, agent_runs_running.
 */
export async function claimRun(db: Db, node: string): Promise<RunRow | null> {
  const [row] = await db<RunRow[]>`
    update agent_runs r
    set state = 'running', leased_by = ${node}, leased_until = now() + make_interval(secs => ${leaseSeconds}),
      began_at = coalesce(r.began_at, now()), attempts = r.attempts + (r.state = 'running')::int
    where r.id = (
      select c.id from agent_runs c
      where c.state in ('queued', 'running') and c.due_at <= now()
        and (c.state = 'queued' or c.leased_until < now())
        and not exists (
          select from agent_runs e
          where e.conversation = c.conversation and e.id <> c.id and e.state in ('queued', 'running')
            and (e.id < c.id or (e.state = 'running' and e.leased_until > now())))
        and (
          select count(*) from agent_runs o
          where o.agent_id = c.agent_id and o.app_id = c.app_id and o.state = 'running' and o.leased_until > now()
        ) < ${runningLimit}
      order by c.due_at, c.id
      for update of c skip locked limit 1)
    returning r.*`
  return row ?? null
}

/** A lease as PostgreSQL has it. */
export interface Renewed {
  id: number
  /** False: the run was taken away, or has ended. */
  is_held: boolean
  state: RunState
  keeps_text: boolean
}

/** Extends the leases of a node; tells for each run whether the node still holds it. Deleted runs are missing. */
export function renewLeases(db: Db, node: string, runs: number[]): Promise<Renewed[]> {
  return db<Renewed[]>`
    with renewed as (
      update agent_runs set leased_until = now() + make_interval(secs => ${leaseSeconds})
      where id = any(${runs}::bigint[]) and leased_by = ${node} and state = 'running' returning id
    )
    select r.id, r.state, r.keeps_text, exists (select from renewed n where n.id = r.id) as is_held
    from agent_runs r where r.id = any(${runs}::bigint[])`
}

/** A condition on the row of a run: the lease is valid. */
export const isHeld = (db: Db, { run, node }: Lease) => db`id = ${run} and leased_by = ${node} and state = 'running'`

/** Throws RunLost where a statement has written nothing, because the lease is lost. */
export async function requireHeld(write: Promise<{ count: number }>): Promise<void> {
  const { count } = await write
  if (count === 0) throw new RunLost()
}

/** Releases a run to any node, after `delayMs`; `isFault` counts like a lost lease. */
export async function releaseRun(
  db: Db,
  lease: Lease,
  { delayMs = 0, isFault = false, busyMs = 0 } = {},
): Promise<void> {
  await db`
    update agent_runs set state = 'queued', due_at = now() + make_interval(secs => ${delayMs / 1000}), leased_by = null,
      leased_until = null, attempts = attempts + ${isFault ? 1 : 0}, busy_ms = busy_ms + ${busyMs}
    where ${isHeld(db, lease)}`
}

/** Ends all leases: none of the nodes that had them can write an answer any more. */
export async function expireLeases(db: Db): Promise<void> {
  await db`update agent_runs set leased_until = now() where state = 'running'`
}

/** Suspends a run until its calls are approved: it holds no lease, and its conversation continues. Throws RunLost. */
export async function pauseRun(db: Db, lease: Lease, busyMs: number): Promise<void> {
  await requireHeld(db`
    update agent_runs set state = 'waiting', leased_by = null, leased_until = null, busy_ms = busy_ms + ${busyMs}
    where ${isHeld(db, lease)}`)
}

/** Ends a run without a reply. False where this node has lost it. */
export async function endQuietly(
  db: Db,
  lease: Lease,
  { state, error, busyMs }: { state: RunState; error: RunError | null; busyMs: number },
): Promise<boolean> {
  const [row] = await db<{ count: number }[]>`
    with ended as (
      update agent_runs set state = ${state}, error = ${error}, ended_at = now(), leased_by = null,
        leased_until = null, busy_ms = busy_ms + ${busyMs}
      where ${isHeld(db, lease)} returning *
    ), told as (${db.unsafe(
      queueRunDeliveries(`
        select 'run_failed' as action, e.agent_id as actor_id, ${runJson('e')} as run, null::jsonb as approval,
          e.ended_at as at
        from ended e where e.state = 'failed'`),
    )})
    select count(*) as count from ended`
  return row!.count > 0
}

/**
 * The run, locked until the transaction ends, so that only its holder commits with it. Throws RunLost where this node
 * is not the holder.
 */
export async function lockRun(db: Db, lease: Lease): Promise<RunRow> {
  const [row] = await db<RunRow[]>`select * from agent_runs where ${isHeld(db, lease)} for update`
  if (row === undefined) throw new RunLost('The run is not this node’s any more')
  return row
}
