import type { AppEvent } from '../../../engine/event.ts'
import type { UserCache } from '../../../auth/user-cache.ts'
import { kinds } from '../../content/kinds.ts'
import type { ContentEntity } from '../../content/kind.ts'
import type { ContentRow } from '../../content/schema.ts'
import { plainOf } from '../../content/text/render.ts'
import { findOption } from '../../options/store.ts'
import type { Draft } from '../schema.ts'
import { toSnippet } from '../text.ts'
import { findRollUp, findReaction, hasVote, listRetracted, removeRollUp, updateRollUp } from './store.ts'
import { toItemDraft } from './draft.ts'
import { mayBeNotified, type NotificationContext } from './context.ts'

/** The change of a notification that several events share. */
export interface RollUp {
  draft?: Draft
  updated?: number[]
}

const nothing: RollUp = {}

/**
 * Of a reaction: the item's author gets one notification per reacting user, with the current emoji. Removing the
 * reaction removes the notification while it is unread.
 */
export async function ofReaction(event: AppEvent, context: NotificationContext): Promise<RollUp> {
  const { tx, userCache } = context
  const { entity_id, actor_id, facts } = event
  const { type } = facts as { type: ContentEntity }
  const item = await findItem(type, entity_id, event, context)
  if (item === null) return nothing
  const key = { user: item.created_by, link: entity_id, action: 'reaction_added', actor: actor_id }
  const content = await findReaction(tx, entity_id, actor_id)
  const rolled = await findRollUp(tx, key)
  if (content === null) {
    if (rolled?.is_unread) await removeRollUp(tx, rolled.id)
    return nothing
  }
  if (event.type === 'reaction_removed' || !(await mayNotifyAuthor(item, event, context))) return nothing
  const args = [userCache.show(actor_id).display_name, content, toSnippet(plainOf(item))]
  const template = `**{0}** reacted {1} to your ${type}: "{2}"`
  if (rolled === null) return { draft: toDraft(event, type, item, { type: 'reaction', template, args }) }
  await updateRollUp(tx, { id: rolled.id, actor_ids: [actor_id], template, args, now: event.created_at })
  return { updated: [rolled.id] }
}

/** Of a vote: votes on one item share one notification while it is unread. */
export async function ofVote(event: AppEvent, context: NotificationContext): Promise<RollUp> {
  const { tx, userCache } = context
  const { actor_id } = event
  const option = await findOption(tx, event.entity_id)
  if (option === null) return nothing
  const item = await findItem(option.item_type, option.item_id, event, context)
  if (item === null) return nothing
  if (event.type === 'vote_removed') return retractVotes(item, event, context)
  if (!(await hasVote(tx, item.id, actor_id))) return nothing
  const rolled = await findRollUp(tx, { user: item.created_by, link: item.id, action: 'vote_added', isUnread: true })
  const before = rolled?.actor_ids ?? []
  if (before.includes(actor_id) || !(await mayNotifyAuthor(item, event, context))) return nothing
  const actors = [actor_id, ...before]
  const text = await describeVoters(actors, userCache)
  if (rolled === null) return { draft: toDraft(event, option.item_type, item, { type: 'activity', ...text }) }
  await updateRollUp(tx, { id: rolled.id, actor_ids: actors, ...text, now: event.created_at })
  return { updated: [rolled.id] }
}

/** Removes votes from unread notifications that were withdrawn, or whose option an edit removed. */
export async function retractVotes(
  item: ContentRow,
  { created_at }: AppEvent,
  context: NotificationContext,
): Promise<RollUp> {
  const { tx, userCache } = context
  const updated: number[] = []
  for (const { id, voters } of await listRetracted(tx, item)) {
    if (voters.length === 0) {
      await removeRollUp(tx, id)
      continue
    }
    await updateRollUp(tx, { id, actor_ids: voters, ...(await describeVoters(voters, userCache)), now: created_at })
    updated.push(id)
  }
  return { updated }
}

async function describeVoters(voters: number[], userCache: UserCache): Promise<{ template: string; args: string[] }> {
  await userCache.load(voters)
  const names = voters.map(voter => userCache.show(voter).display_name)
  const what = 'voted on your poll'
  if (names.length === 1) return { template: `**{0}** ${what}`, args: names }
  if (names.length === 2) return { template: `**{0}** and **{1}** ${what}`, args: names }
  if (names.length === 3) return { template: `**{0}**, **{1}** and **{2}** ${what}`, args: names }
  return { template: `**{0}** and {1} others ${what}`, args: [names[0]!, String(names.length - 1)] }
}

/** The item, where its author is another user than the actor. */
async function findItem(
  type: ContentEntity,
  id: number,
  { actor_id }: AppEvent,
  { tx }: NotificationContext,
): Promise<ContentRow | null> {
  const item = await kinds[type].store.find(tx, id)
  return item === null || item.created_by === actor_id ? null : item
}

/** A notification for the item's author. */
function toDraft(
  event: AppEvent,
  type: ContentEntity,
  item: ContentRow,
  text: Pick<Draft, 'type' | 'template' | 'args'>,
): Draft {
  return { ...toItemDraft(event, type, item), ...text, user_id: item.created_by }
}

/** True where the item's author may be notified; author and actor are then in memory. */
async function mayNotifyAuthor(
  { id, created_by }: ContentRow,
  { actor_id }: AppEvent,
  context: NotificationContext,
): Promise<boolean> {
  await context.userCache.load([actor_id, created_by])
  return mayBeNotified(context, created_by, id)
}
