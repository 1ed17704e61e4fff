import type { AppEvent } from '../../../engine/event.ts'
import { kinds } from '../../content/kinds.ts'
import type { ContentEntity } from '../../content/kind.ts'
import { listMentions, plainOf } from '../../content/text/render.ts'
import type { ContentRow } from '../../content/schema.ts'
import { listSubscribers } from '../../subscriptions/store.ts'
import type { MentionFacts } from '../../content/text/mentions.ts'
import type { Draft } from '../schema.ts'
import { toSnippet } from '../text.ts'
import type { RecipientBatch } from './recipient-batch.ts'
import { toItemDraft } from './draft.ts'
import { listNotified } from './store.ts'
import { mayBeNotified, nameFor, usersInTitle, subscribersAt, type NotificationContext } from './context.ts'

/**
 * Users whom a new item concerns beside mentioned ones, and the notification's text. The first matching reason counts.
 */
interface Reason {
  users: number[]
  template: string
  args: (user: number) => string[]
}

/**
 * The notifications of a new message, post or comment for the next batch of recipients: at most one for each user,
 * preferably for a mention.
 */
export async function ofCreated(
  event: AppEvent,
  item: ContentRow,
  context: NotificationContext,
  batch: RecipientBatch,
): Promise<Draft[]> {
  const mentioned = listMentions(item.html)
  const reasons = await toReasons(event, item, context)
  const next = batch.next([...mentioned, ...reasons.flatMap(({ users }) => users)])
  await context.userCache.load([event.actor_id, ...usersInTitle(context.state), ...next])
  next.delete(event.actor_id)
  const isNext = (user: number) => next.has(user)
  const drafts = ofMentions(event, item, mentioned.filter(isNext), context)
  for (const { user_id } of drafts) next.delete(user_id)
  for (const { users, template, args } of reasons) {
    for (const user of users) {
      if (!next.delete(user) || !mayBeNotified(context, user, item.id)) continue
      drafts.push({ ...toDraft(event, item), user_id: user, template, args: args(user) })
    }
  }
  return drafts
}

/**
 * The notifications of an edit: for newly mentioned users only, whom the item still mentions and who have not been told
 * of it before.
 */
export async function ofUpdated(event: AppEvent, item: ContentRow, context: NotificationContext): Promise<Draft[]> {
  const { mentioned = [] } = (event.facts as MentionFacts | null) ?? {}
  if (mentioned.length === 0) return []
  const known = new Set(await listNotified(context.tx, item.id))
  const now = new Set(listMentions(item.html))
  const fresh = mentioned.filter(user => now.has(user) && !known.has(user))
  await context.userCache.load([event.actor_id, ...fresh])
  return ofMentions(event, item, fresh, context)
}

function ofMentions(event: AppEvent, item: ContentRow, users: number[], context: NotificationContext): Draft[] {
  const template = `**{0}** mentioned you in a ${event.kind.entity}: "{1}"`
  const args = [context.userCache.show(event.actor_id).display_name, toSnippet(plainOf(item))]
  const concerned = users.filter(user => user !== event.actor_id && mayBeNotified(context, user, item.id))
  return concerned.map(user => ({ ...toDraft(event, item), user_id: user, type: 'mention', template, args }))
}

async function toReasons(
  { kind, rev, actor_id }: AppEvent,
  item: ContentRow,
  context: NotificationContext,
): Promise<Reason[]> {
  const { entity } = kind
  const { tx, state, userCache } = context
  const snippet = toSnippet(plainOf(item))
  const name = () => userCache.show(actor_id).display_name
  const inApp = (user: number) => [name(), nameFor(context, user), snippet]
  const brief = () => [name(), snippet]
  const { parent_id, parent_type } = item
  // Messages roll up: users who do not read them are notified later.
  if (entity === 'message') return []

  if (parent_id !== null && parent_type === 'file') {
    const file = await findFileName(context, parent_id)
    const args = () => [name(), file, snippet]
    return [{ users: await listSubscribers(tx, parent_id, rev), template: '**{0}** commented on *{1}*: "{2}"', args }]
  }
  if (parent_id !== null) {
    const post = await kinds.post.store.find(tx, parent_id)
    const users = await listSubscribers(tx, parent_id, rev)
    // The author of a post is notified of comments, unless they have unsubscribed from it.
    const authors = users.filter(user => user === post?.created_by)
    return [
      { users: authors, template: '**{0}** replied to your post: "{1}"', args: brief },
      { users, template: '**{0}** replied to a post: "{1}"', args: brief },
    ]
  }
  const users = subscribersAt(state, rev)
  if (entity === 'post') return [{ users, template: '**{0}** posted in **{1}**: "{2}"', args: inApp }]
  return [{ users, template: '**{0}** commented on **{1}**: "{2}"', args: inApp }]
}

async function findFileName({ tx }: NotificationContext, id: number): Promise<string> {
  const [file] = await tx<{ name: string }[]>`select name from files where id = ${id}`
  return file?.name ?? ''
}

function toDraft(event: AppEvent, item: ContentRow): Omit<Draft, 'user_id' | 'template' | 'args'> {
  // Only events of content get here.
  return { ...toItemDraft(event, event.kind.entity as ContentEntity, item), type: 'activity' }
}
