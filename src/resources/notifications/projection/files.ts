import type { AppEvent } from '../../../engine/event.ts'
import type { FileFacts } from '../../files/events.ts'
import type { FileRow } from '../../files/schema.ts'
import { listSubscribers } from '../../subscriptions/store.ts'
import type { Draft } from '../schema.ts'
import type { RecipientBatch } from './recipient-batch.ts'
import { toItemDraft } from './draft.ts'
import { mayBeNotified, nameFor, usersInTitle, subscribersAt, type NotificationContext } from './context.ts'

/** The notifications of a new file, or of new content of one: for subscribers of the app or the file. */
export async function ofFile(
  event: AppEvent,
  file: FileRow,
  context: NotificationContext,
  batch: RecipientBatch,
): Promise<Draft[]> {
  const { tx, state, userCache } = context
  const isNew = event.type === 'file_created'
  if (!isNew && (event.facts as FileFacts | null)?.hasNewContent !== true) return []
  const users = isNew ? subscribersAt(state, event.rev) : await listSubscribers(tx, file.id, event.rev)
  const next = batch.next(users)
  await userCache.load([event.actor_id, ...usersInTitle(state), ...next])
  const { display_name: name } = userCache.show(event.actor_id)
  const concerned = [...next].filter(user => user !== event.actor_id && mayBeNotified(context, user, file.id))
  const draft = toItemDraft(event, 'file', { id: file.id, parent_type: null, parent_id: null })
  return concerned.map(user => ({
    ...draft,
    user_id: user,
    type: 'activity',
    template: isNew ? '**{0}** added *{1}* to **{2}**' : '**{0}** edited *{1}*',
    args: isNew ? [name, file.name, nameFor(context, user)] : [name, file.name],
  }))
}
