import type { Db, Fragment, Tx } from '../../../postgres/sql.ts'
import type { Change } from '../schema.ts'

/**
 * A condition: a rolled-up notification to `user` may stand for this message `m`. Others wrote it, it is visible, and it
 * does not mention the user, who is told of that apart.
 */
export function isCounted(db: Db, user: Fragment): Fragment {
  return db`m.created_by <> ${user} and m.trashed_at is null
    and (m.html is null or strpos(m.html, 'data-eid="u' || ${user} || '"') = 0)`
}

/** A person who may have unread messages in an app. */
export interface Candidate {
  app: number
  user: number
  /** Messages up to here are none of the person's: read, hidden, or written before they belonged to those who are told. */
  after: number
}

/** The first message that a person has not read. */
export interface Unread {
  app_id: number
  user_id: number
  message_id: number
  created_by: number
  created_at: Date
  plain: string | null
}

/**
 * Of these people those who have unread messages, the first of them made by `before`, and no unread notification that
 * stands for it. What a notification that was read has stood for is not told again. Served by messages_app and
 * notifications_app.
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
    ) told on true
    cross join lateral (
      select m.id as message_id, m.created_by, m.created_at, coalesce(m.plain, m.text) as plain from messages m
      where m.app_id = c.app_id and m.id > greatest(c.after_id, told.until_id) and ${isCounted(tx, tx`c.user_id`)}
      order by m.app_id, m.id limit 1
    ) first
    where told.is_open is not true and first.created_at <= ${before}`
}

/** How far somebody has read an app, and at which of its revs. */
export interface Reading {
  app: number
  user: number
  message: number
  rev: number
}

/**
 * Marks as read what people were told of messages, up to those that they have read: where messages roll up, only if
 * there was none after these at that time. Gives those for whom there was something, and in which app. Served by
 * notifications_unread.
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
      from (select distinct user_id, app_id from hit) people, pg_current_xact_id()
    ), marked as (
      update notifications n
      set is_unread = false, until_id = case when n.from_id is not null then h.message_id end,
        changed_id = c.change_id, change = ${'notifications_marked' satisfies Change}
      from hit h join numbered c on c.user_id = h.user_id and c.app_id = h.app_id
      where n.id = h.id
    )
    select user_id, app_id from numbered`
}

/** What a rolled-up notification stands for when it is shown. */
export interface Rolled {
  /** Its messages, at most one more than are counted; and who wrote them, the newest first. */
  count: number
  authors: number[]
  message_id: number
  plain: string | null
  created_at: Date
}

/** Messages that are counted for one notification. A guess: nobody needs to know how many more there are. */
export const countedMessages = 999

/**
 * What rolled-up notifications stand for now: of those that are unread, messages that their user has not read. Those that
 * stand for none have no entry. Served by messages_app, which is read no further than messages are counted.
 */
export async function listRolled(db: Db, ids: number[]): Promise<Map<number, Rolled>> {
  if (ids.length === 0) return new Map()
  const rows = await db<(Rolled & { id: number })[]>`
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
