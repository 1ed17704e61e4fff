import type { Sql } from '../../../postgres/sql.ts'
import { markedBy } from '../rolled/store.ts'
import { toReached } from './backlog.ts'
import { toDueStepMs } from './pace.ts'

/** An app whose next events have been processed, or for which the statement had no room. */
interface ProcessedApp {
  app_id: number
  /** True where more events are left, or it is time to check what is unread. */
  is_left: boolean
  /** When the first of the events was committed; null where there was no room for any. */
  first_at: Date | null
}

/** The result of one statement. */
interface PlainResult {
  /** Apps for which the statement had no room come first. */
  processed: ProcessedApp[]
  /** True where notifications were marked as read. */
  hasMarked: boolean
}

/** The most events of one statement where one node alone commits, as of a BacklogTransaction. */
export const plainLimit = 2_000

interface PlainOptions {
  /** How long a message has to be unread before its readers are notified. */
  patienceMs: number
  /** The most events. */
  limit: number
  now: Date
}

/**
 * Does the work of a BacklogTransaction in one statement, for apps whose new events are only messages without mentions
 * and read markers, nearly all events: each further statement wakes PostgreSQL and this node once more, which costs an
 * idle server more than the work itself. Apps come in the order of `apps`, until the limit is reached. Leaves other
 * apps unprocessed: with events that must be processed one by one, with messages that were unread for long enough, without
 * a cursor, locked by another node, or deleted; and all apps while a webhook needs to know what is marked as read.
 */
export async function processPlain(
  sql: Sql,
  apps: number[],
  { patienceMs, limit, now }: PlainOptions,
): Promise<PlainResult> {
  const [patience, step] = [patienceMs / 1000, toDueStepMs(patienceMs) / 1000]
  const rows = await sql<(ProcessedApp & { has_marked: boolean })[]>`
    with cursors as materialized (
      select app_id, rev, told_to, due_at, rolled_id, rolled_to from notification_cursors c
      where app_id = any(${apps}::bigint[])
        and exists (select from apps a where a.id = c.app_id and a.deleted_at is null)
        and not exists (select from webhooks where is_enabled and 'notifications' = any(triggers))
      for update skip locked
    ), seen as materialized (
      -- Without cursors that were moved since this statement began: it does not see the rows of those transactions.
      select c.* from cursors c join notification_cursors s on s.app_id = c.app_id and s.rev = c.rev
        and s.told_to = c.told_to and s.rolled_id = c.rolled_id and s.rolled_to = c.rolled_to
        and s.due_at is not distinct from c.due_at
      where c.due_at is null or c.due_at > ${now}
      order by array_position(${apps}::bigint[], c.app_id)
    ), next as materialized (
      -- The limit leaves a part of the last app's events for later, the newest: an app's come in order, one app at a time.
      select c.app_id, c.due_at, e.* from seen c
      cross join lateral (
        select rev, type, entity_id, actor_id, created_at, ${toReached(sql)} as reached
        from events where app_id = c.app_id and rev > c.rev order by app_id, rev limit ${limit}
      ) e
      limit ${limit}
    ), plain as materialized (
      select app_id, max(rev) as rev, min(created_at) as first_at, coalesce(due_at, to_timestamp(ceil(
        extract(epoch from min(created_at) filter (where type = 'message_created')) / ${step} + ${patience / step}
      ) * ${step})) as due_at
      from next group by app_id, due_at having bool_and(reached is not null)
    ), done as materialized (
      select n.* from next n join plain using (app_id)
    ), terms as (
      insert into messages_terms as kept (id, terms)
      select id, search_terms(app_id, coalesce(plain, text), tags) from messages
      where id = any(array(select entity_id from done where type = 'message_created'))
      on conflict (id) do update set terms = excluded.terms where kept.terms <> excluded.terms
    ), readings as materialized (
      select distinct on (app_id, actor_id) app_id, actor_id as user_id, reached as message_id, rev
      from done where reached > 0 and actor_id > 0
      order by app_id, actor_id, reached desc, rev desc
    ), ${markedBy(sql, sql`readings`)}, moved as (
      update notification_cursors c set rev = p.rev, due_at = p.due_at from plain p where c.app_id = p.app_id
      returning c.app_id
    )
    select p.app_id, a.head_rev > p.rev or coalesce(p.due_at <= ${now}, false) as is_left, p.first_at,
      exists (select from numbered) as has_marked
    from plain p join moved using (app_id) join apps a on a.id = p.app_id
    union all
    select app_id, true, null, exists (select from numbered) from seen
    where app_id not in (select app_id from next) and (select count(*) from next) = ${limit}
    order by first_at nulls first`
  return { processed: rows, hasMarked: rows[0]?.has_marked ?? false }
}
