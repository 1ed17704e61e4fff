import { approvalJson, queueRunDeliveries, runJson } from '../../../agents/runs/deliveries.ts'
import type { ItemType } from '../../../agents/runs/run.ts'
import { batch } from '../../../postgres/batch.ts'
import type { Page } from '../../../api/page.ts'
import type { Db } from '../../../postgres/sql.ts'

/** How long a question stays open. A rule of the API. */
const lapseHours = 24

export const approvalStates = ['pending', 'approved', 'declined', 'lapsed'] as const
type ApprovalState = (typeof approvalStates)[number]

/** A row of `agent_approvals`, with columns of its run. */
export interface ApprovalRow {
  id: number
  run_id: number
  step: number
  server: string
  tool: string
  arguments: Record<string, unknown>
  binding: Buffer
  item_type: ItemType
  item_id: number
  state: ApprovalState
  note: string | null
  decided_by: number | null
  decided_at: Date | null
  created_at: Date
  agent_id: number
  app_id: number
  asker_id: number
}

type NewApproval = Pick<
  ApprovalRow,
  'id' | 'run_id' | 'step' | 'server' | 'tool' | 'binding' | 'item_type' | 'item_id' | 'created_at'
> & { arguments_text: string }

export const insertApproval = batch<NewApproval>({
  name: 'insert_agent_approvals',
  columns: {
    id: 'bigint',
    run_id: 'bigint',
    step: 'int',
    server: 'text',
    tool: 'text',
    arguments_text: 'text',
    binding: 'bytea',
    item_type: 'text',
    item_id: 'bigint',
    created_at: 'timestamptz',
  },
  sql: rows => `
    insert into agent_approvals (id, run_id, step, server, tool, arguments, binding, item_type, item_id, created_at)
      overriding system value
    select id, run_id, step, server, tool, arguments_text::json, binding, item_type, item_id, created_at from ${rows} r`,
})

/** Queues webhook deliveries for requested approvals. */
export const tellApproval = batch<NewApproval>({
  name: 'tell_agent_approvals',
  columns: {
    id: 'bigint',
    run_id: 'bigint',
    step: 'int',
    server: 'text',
    tool: 'text',
    created_at: 'timestamptz',
  },
  sql: rows =>
    queueRunDeliveries(`
      select 'approval_requested' as action, a.agent_id as actor_id, ${runJson('a')} as run,
        ${approvalJson('r', `'pending'`)} as approval, r.created_at as at
      from ${rows} r join agent_runs a on a.id = r.run_id`),
})

export function toExpiry(createdAt: Date): Date {
  return new Date(createdAt.getTime() + lapseHours * 3_600_000)
}

/** Draws the id of an approval, which its question names. */
export async function drawApprovalId(db: Db): Promise<number> {
  const [row] = await db<{ id: number }[]>`select nextval(pg_get_serial_sequence('agent_approvals', 'id')) as id`
  return row!.id
}

/** Votes of askers on their questions; the first decides. Served by agent_approvals_item. */
export const decideByVote = batch({
  name: 'decide_agent_approvals_by_vote',
  columns: { item_type: 'text', item_id: 'bigint', user_id: 'bigint', is_approved: 'boolean', at: 'timestamptz' },
  key: row => row.item_id,
  sql: rows => `
    update agent_approvals a
    set state = case when r.is_approved then 'approved' else 'declined' end, decided_by = r.user_id, decided_at = r.at
    from ${rows} r, agent_runs n
    where a.item_id = r.item_id and a.item_type = r.item_type and a.state = 'pending'
      and n.id = a.run_id and n.asker_id = r.user_id`,
})

/** Items of askers with a decision in their metadata. */
export const decideByItem = batch({
  name: 'decide_agent_approvals_by_item',
  columns: { id: 'bigint', app_id: 'bigint', user_id: 'bigint', is_approved: 'boolean', at: 'timestamptz' },
  key: row => row.id,
  sql: rows => `
    update agent_approvals a
    set state = case when r.is_approved then 'approved' else 'declined' end, decided_by = r.user_id, decided_at = r.at
    from ${rows} r, agent_runs n
    where a.id = r.id and a.state = 'pending' and n.id = a.run_id and n.asker_id = r.user_id and n.app_id = r.app_id`,
})

/** Declines questions whose items are not visible any more. */
export const declineOfItems = batch({
  name: 'decline_agent_approvals',
  columns: { item_type: 'text', item_id: 'bigint', at: 'timestamptz' },
  key: row => `${row.item_type}:${row.item_id}`,
  sql: rows => `
    update agent_approvals a set state = 'declined', decided_at = r.at
    from ${rows} r where a.item_id = r.item_id and a.item_type = r.item_type and a.state = 'pending'`,
})

/** Cancels the runs that ask them. */
export const cancelRunsThatAsk = batch({
  name: 'cancel_agent_runs_that_ask',
  columns: { item_type: 'text', item_id: 'bigint', at: 'timestamptz' },
  key: row => `${row.item_type}:${row.item_id}`,
  sql: rows => `
    update agent_runs n set state = 'cancelled', ended_at = r.at, leased_by = null, leased_until = null
    from ${rows} r, agent_approvals a
    where a.item_id = r.item_id and a.item_type = r.item_type and a.state = 'pending' and n.id = a.run_id
      and n.state in ('queued', 'running', 'waiting')`,
})

const selectApprovals = (db: Db) => db`
  select a.*, r.agent_id, r.app_id, r.asker_id from agent_approvals a join agent_runs r on r.id = a.run_id`

export async function findApproval(db: Db, id: number): Promise<ApprovalRow | null> {
  const [row] = await db<ApprovalRow[]>`${selectApprovals(db)} where a.id = ${id}`
  return row ?? null
}

export function listOfRun(db: Db, run: number): Promise<ApprovalRow[]> {
  return db<ApprovalRow[]>`${selectApprovals(db)} where a.run_id = ${run} order by a.step`
}

interface Filter {
  /** Null: of all users. */
  asker: number | null
  state: ApprovalState
}

/** Newest first, and the total. */
export async function listApprovals(
  db: Db,
  { asker, state }: Filter,
  { skip, take, countOnly }: Page,
): Promise<{ rows: ApprovalRow[]; count: number }> {
  const filter = db`a.state = ${state} ${asker === null ? db`` : db`and r.asker_id = ${asker}`}`
  const [total] = await db<{ count: number }[]>`
    select count(*) as count from agent_approvals a join agent_runs r on r.id = a.run_id where ${filter}`
  const rows = countOnly
    ? []
    : await db<ApprovalRow[]>`${selectApprovals(db)} where ${filter} order by a.id desc limit ${take} offset ${skip}`
  return { rows, count: total!.count }
}

/** Decides an open approval; false where it is not open. */
export async function decide(
  db: Db,
  { id, isApproved, note, by }: { id: number; isApproved: boolean; note: string | null; by: number },
): Promise<boolean> {
  const { count } = await db`
    update agent_approvals set state = ${isApproved ? 'approved' : 'declined'}, note = ${note}, decided_by = ${by},
      decided_at = now()
    where id = ${id} and state = 'pending' and created_at > now() - make_interval(hours => ${lapseHours})`
  return count > 0
}

/** Ends unanswered questions that have expired, with their runs, and questions of runs that have ended. */
export async function lapse(db: Db): Promise<void> {
  await db`
    update agent_approvals set state = 'lapsed', decided_at = now()
    where state = 'pending' and created_at < now() - make_interval(hours => ${lapseHours})`
  await db`
    update agent_runs r set state = 'cancelled', ended_at = now()
    where r.state = 'waiting' and exists (select from agent_approvals a where a.run_id = r.id and a.state = 'lapsed')`
  await db`
    update agent_approvals a set state = 'declined', decided_at = now() from agent_runs r
    where a.state = 'pending' and r.id = a.run_id and r.state not in ('queued', 'running', 'waiting')`
}

/** A condition: an approval is open, or decided and not shown yet. Served by the partial indexes. */
export const isAnyUnshown = `exists (select from agent_approvals where state = 'pending')
  or exists (select from agent_approvals where not is_shown and state <> 'pending')`

/** Decided approvals whose questions do not show it yet. Served by agent_approvals_unshown. */
export function listUnshown(db: Db, limit: number): Promise<ApprovalRow[]> {
  return db<ApprovalRow[]>`
    ${selectApprovals(db)} where not a.is_shown and a.state <> 'pending' order by a.id limit ${limit}`
}

/** Records that the question shows it, and queues webhook deliveries. False where another node did. */
export async function markShown(db: Db, id: number): Promise<boolean> {
  const [row] = await db<{ count: number }[]>`
    with shown as (
      update agent_approvals set is_shown = true where id = ${id} and not is_shown returning *
    ), told as (${db.unsafe(
      queueRunDeliveries(`
        select 'approval_decided' as action, coalesce(s.decided_by, 0) as actor_id, ${runJson('a')} as run,
          ${approvalJson('s', 's.state')} as approval, s.decided_at as at
        from shown s join agent_runs a on a.id = s.run_id`),
    )})
    select count(*) as count from shown`
  return row!.count > 0
}
