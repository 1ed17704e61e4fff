import type { Db, Fragment, Tx } from '../../../postgres/sql.ts'
import type { Change } from '../schema.ts'

/**
 * A condition: a rolled-up notification of `user` may stand for the message `m`: others wrote it, it is visible, and it
 * does not mention the user, who gets a separate notification for that.
 */
export function isCounted(db: Db, user: Fragment): Fragment {
  return db`m.created_by <> ${user} and m.trashed_at is null
    and (m.html is null or strpos(m.html, '<span class="wy-mention" data-eid="u' || ${user} || '">') = 0)`
}

/** A user who may have unread messages in an app. */
export interface Candidate {
  app: number
  user: number
  /** Messages up to this id do not count for the user: read, hidden, or written before the user subscribed. */
  after: number
}

/** The first unread message of a user. */
export interface Unread {
  app_id: number
  user_id: number
  message_id: number
  created_by: number
  created_at: Date
  plain: string | null
}

/**
 * Of the candidates, users with unread messages, the first of them created by `before`, who have no unread notification
 * for it. Messages of a notification that was read do not count again. Served by messages_app and notifications_app.
 */
export function listUnread(tx: Tx, candidates: Candidate[], before: Date): Promise<Unread[]> {
  return tx<Unread[]>`
    select c.app_id, c.user_id, first.*
    from unnest(
      ${candidates.map(({ app }) => app)}::bigint[], ${candidates.map(({ user }) => user)}::bigint[],
      ${candidates.map(({ after }) => after)}::bigint[]
    ) c(app_id, user_id, after_id)
    left join lateral (
      select max(until_id) as until_id, bool_or(is_unread) as is_open from notifications n
      where n.app_id = c.app_id and n.user_id = c.user_id and n.from_id is not null
    ) earlier on true
    cross join lateral (
      select m.id as message_id, m.created_by, m.created_at, coalesce(m.plain, m.text) as plain from messages m
      where m.app_id = c.app_id and m.id > greatest(c.after_id, earlier.until_id) and ${isCounted(tx, tx`c.user_id`)}
      order by m.app_id, m.id limit 1
    ) first
    where earlier.is_open is not true and first.created_at <= ${before}`
}

/** How far a user has read an app, and the rev at which they did. */
export interface Reading {
  app: number
  user: number
  message: number
  rev: number
}

/**
 * Marks notifications of messages as read up to each user's position; rolled-up ones only where no later message
 * existed then. Returns the users and apps that had any. Served by notifications_unread.
 */
export function markReached(tx: Tx, readings: Reading[]): Promise<{ user_id: number; app_id: number }[]> {
  return tx<{ user_id: number; app_id: number }[]>`
    with hit as materialized (
      select n.id, n.user_id, n.app_id, r.message_id
      from unnest(
        ${readings.map(({ app }) => app)}::bigint[], ${readings.map(({ user }) => user)}::bigint[],
        ${readings.map(({ message }) => message)}::bigint[], ${readings.map(({ rev }) => rev)}::bigint[]
      ) r(app_id, user_id, message_id, rev)
      join notifications n on n.user_id = r.user_id and n.app_id = r.app_id and n.is_unread
        and n.action = 'message_created' and coalesce(n.from_id, n.link_id) <= r.message_id
      where n.from_id is null or not exists (
        select from messages m
        where m.app_id = r.app_id and m.id > r.message_id and m.id < r.rev and ${isCounted(tx, tx`r.user_id`)})
    ), numbered as materialized (
      select user_id, app_id, nextval('notification_changes') as change_id
      from (select distinct user_id, app_id from hit) users, pg_current_xact_id()
    ), marked as (
      update notifications n
      set is_unread = false, until_id = case when n.from_id is not null then h.message_id end,
        changed_id = c.change_id, change = ${'notifications_marked' satisfies Change}
      from hit h join numbered c on c.user_id = h.user_id and c.app_id = h.app_id
      where n.id = h.id
    )
    select user_id, app_id from numbered`
}

/** The messages that a rolled-up notification stands for when it is shown. */
export interface RolledMessages {
  /** The number of its messages, at most one more than are counted; and their authors, newest first. */
  count: number
  authors: number[]
  message_id: number
  plain: string | null
  created_at: Date
}

/** Messages counted for one notification. A guess: more are of no interest. */
export const countedMessages = 999

/**
 * The messages that rolled-up notifications stand for now; for unread ones, messages that their user has not read.
 * Notifications without messages have no entry. Served by messages_app, read no further than messages are counted.
 */
export async function listRolled(db: Db, ids: number[]): Promise<Map<number, RolledMessages>> {
  if (ids.length === 0) return new Map()
  const rows = await db<(RolledMessages & { id: number })[]>`
    select n.id, rolled.count, rolled.authors, w.id as message_id, coalesce(w.plain, w.text) as plain, w.created_at
    from notifications n
    left join members own on own.app_id = n.app_id and own.user_id = n.user_id
    cross join lateral (
      select sum(count)::bigint as count, array_agg(created_by order by newest desc) as authors, max(newest) as newest
      from (
        select created_by, count(*) as count, max(id) as newest
        from (
          select m.id, m.created_by from messages m
          where m.app_id = n.app_id and m.id >= n.from_id and m.id <= coalesce(n.until_id, m.id)
            and m.id > coalesce(own.hidden_id, 0) and (not n.is_unread or m.id > coalesce(own.marked_id, 0))
            and ${isCounted(db, db`n.user_id`)}
          order by m.app_id desc, m.id desc limit ${countedMessages + 1}
        ) newest_first
        group by created_by
      ) by_author
    ) rolled
    join messages w on w.id = rolled.newest
    where n.id = any(${ids}::bigint[]) and n.from_id is not null`
  return new Map(rows.map(({ id, ...rolled }) => [id, rolled]))
}
