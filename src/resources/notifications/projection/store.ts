import type { Tx } from '../../../postgres/sql.ts'
import type { ContentRow } from '../../content/schema.ts'

interface StoredRollUp {
  id: number
  actor_ids: number[]
  is_unread: boolean
}

interface RollUpKey {
  user: number
  link: number
  action: string
  /** Restricts it to notifications by this actor alone. */
  actor?: number
  isUnread?: boolean
}

/** The newest notification that further events join. Served by notifications_link. */
export async function findRollUp(
  tx: Tx,
  { user, link, action, actor, isUnread }: RollUpKey,
): Promise<StoredRollUp | null> {
  const [row] = await tx<StoredRollUp[]>`
    select id, actor_ids, is_unread from notifications
    where link_id = ${link} and user_id = ${user} and action = ${action}
      ${actor === undefined ? tx`` : tx`and actor_ids = array[${actor}]::bigint[]`}
      ${isUnread === undefined ? tx`` : tx`and is_unread = ${isUnread}`}
    order by id desc limit 1 for update`
  return row ?? null
}

interface RollUpChange {
  id: number
  actor_ids: number[]
  template: string
  args: string[]
  now: Date
}

/** Makes a notification unread again, with its new text. */
export async function updateRollUp(tx: Tx, { id, actor_ids, template, args, now }: RollUpChange): Promise<void> {
  await tx`
    update notifications
    set actor_ids = ${actor_ids}::bigint[], template = ${template}, args = ${args}, updated_at = ${now},
      is_unread = true, changed_id = nextval('notification_changes'), change = 'notification_updated'
    where id = ${id}`
}

export async function removeRollUp(tx: Tx, id: number): Promise<void> {
  await tx`delete from notifications where id = ${id}`
}

export async function findReaction(tx: Tx, item: number, user: number): Promise<string | null> {
  const [row] = await tx<{ content: string }[]>`
    select content from reactions where item_id = ${item} and user_id = ${user}`
  return row?.content ?? null
}

interface RetractedVotes {
  id: number
  /** The actors who still have a vote, in order. */
  voters: number[]
}

/**
 * The author's unread notifications of votes on an item, where some of these votes are gone. Served by
 * notifications_link.
 */
export function listRetracted(tx: Tx, { id, created_by }: ContentRow): Promise<RetractedVotes[]> {
  const isVoter = tx`exists (select from votes v where v.item_id = n.link_id and v.user_id = a.id)`
  return tx<RetractedVotes[]>`
    select n.id, array(
      select a.id from unnest(n.actor_ids) with ordinality a(id, place) where ${isVoter} order by a.place) as voters
    from notifications n
    where n.link_id = ${id} and n.user_id = ${created_by} and n.action = 'vote_added' and n.is_unread
      and exists (select from unnest(n.actor_ids) a(id) where not ${isVoter})
    order by n.id for update`
}

export async function hasVote(tx: Tx, item: number, user: number): Promise<boolean> {
  const rows = await tx`select from votes where item_id = ${item} and user_id = ${user}`
  return rows.length > 0
}

/** The users who have a notification of a mention in an item. Served by notifications_link. */
export async function listNotified(tx: Tx, item: number): Promise<number[]> {
  const rows = await tx<{ user_id: number }[]>`
    select user_id from notifications where link_id = ${item} and link_type <> 'app' and type = 'mention'`
  return rows.map(({ user_id }) => user_id)
}

/**
 * Takes the unread notifications of mentions in an item back, of `users` whom it does not mention any more. Served by
 * notifications_link.
 */
export async function removeMentions(tx: Tx, item: number, users: number[], mentioned: number[]): Promise<void> {
  const gone = users.filter(user => !mentioned.includes(user))
  await tx`
    delete from notifications n
    where n.link_id = ${item} and n.link_type <> 'app' and n.type = 'mention' and n.user_id = any(${gone}::bigint[])
      and n.is_unread`
}

/** Removes notifications about attachments that an edit removed from an item. Served by notifications_parent. */
export async function removeDetached(tx: Tx, item: number): Promise<void> {
  await tx`
    delete from notifications n
    where n.parent_id = ${item} and n.link_type = 'file' and not exists (select from files f where f.id = n.link_id)`
}

/**
 * Removes notifications about a deleted item, and about comments on it. Served by notifications_link and
 * notifications_parent.
 */
export async function removeLinked(tx: Tx, id: number): Promise<void> {
  await tx`delete from notifications where link_id = ${id} and link_type <> 'app'`
  await tx`delete from notifications where parent_id = ${id}`
}
