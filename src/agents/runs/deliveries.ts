/** The actions of webhooks with the trigger `agents`. */
export type RunAction = 'run_done' | 'run_failed' | 'approval_requested' | 'approval_decided'

/** An approval in a delivery, without its arguments. */
export interface DeliveredApproval {
  id: number
  server: string
  tool: string
  state: string
  created_at: Date
}

/**
 * SQL that queues deliveries to webhooks within the statement that causes them, so each is queued once. `source` is a
 * query of `action`, `actor_id`, `run` and `approval` (jsonb, as `runJson` and `approvalJson` write them) and `at`. All
 * deliveries for one row share a number.
 */
export function queueRunDeliveries(source: string): string {
  return `
    insert into deliveries (webhook_id, event_id, trigger, action, app_id, actor_id, facts, created_at)
    with told as materialized (
      select nextval('numbers') as event_id, s.* from (${source}) s
      where exists (select from webhooks where is_enabled and 'agents' = any(triggers)))
    select w.id, t.event_id, 'agents', t.action, (t.run ->> 'app_id')::bigint, t.actor_id,
      jsonb_build_object('entity_id', t.run -> 'id', 'facts', null, 'created_at', t.at,
        'body', jsonb_build_object('run', t.run, 'approval', t.approval)), t.at
    from webhooks w cross join told t
    where w.is_enabled and 'agents' = any(w.triggers)`
}

/** A row of `agent_runs`, with its questions so far. */
export function runJson(run: string): string {
  return `to_jsonb(${run}) || jsonb_build_object('approvals', coalesce(
    (select jsonb_agg(p.id order by p.step) from agent_approvals p where p.run_id = ${run}.id), '[]'))`
}

/** A row of `agent_approvals`, existing or new; `state` is SQL. */
export function approvalJson(approval: string, state: string): string {
  const members = ['id', 'server', 'tool', 'created_at'].map(name => `'${name}', ${approval}.${name}`)
  return `jsonb_build_object(${members.join(', ')}, 'state', ${state})`
}
