import { globalCommand, type GlobalCommand, type GlobalWork } from '../../engine/global/command.ts'
import { requireFound } from '../../lib/errors.ts'
import { holdUsers } from '../users/store.ts'
import { queueChanged, queueMarked } from './processing/outbox.ts'
import { UnknownLink, UnknownUser, type Draft, type NotificationRow } from './schema.ts'
import * as store from './store.ts'

/** Marks one of the caller's notifications as read or unread. 404 where it is another user's. */
export const markNotification = globalCommand(
  'markNotification',
  async (work: GlobalWork, { id, isUnread }: { id: number; isUnread: boolean }): Promise<NotificationRow> => {
    const { sql, by, now } = work
    const row = requireFound(await store.findNotification(sql, id, by.user))
    if (row.is_unread === isUnread) return row
    await store.updateUnread(sql, id, isUnread)
    await queueChanged(sql, { change: 'notification_updated', ids: [id], by: by.user }, now)
    return { ...row, is_unread: isUnread }
  },
)

/** Marks the caller's unread notifications as read: all, or of an app or directory; up to a notification, if given. */
export const markNotifications = globalCommand(
  'markNotifications',
  async (work: GlobalWork, scope: Omit<store.Marking, 'user'>): Promise<void> => {
    const hasMarked = await store.markRead(work.sql, { ...scope, user: work.by.user })
    if (hasMarked) await queueMarked(work.sql, [{ user_id: work.by.user, app_id: scope.app ?? null }], work.now)
  },
)

/**
 * Stores a notification and sends it. 422 where the user, or the item that it leads to, has just been deleted or
 * hidden.
 */
export const createNotification = globalCommand(
  'createNotification',
  async (work: GlobalWork, draft: Draft): Promise<NotificationRow> => {
    if (!(await holdUsers(work.sql, [draft.user_id]))) throw UnknownUser()
    if (!(await store.holdLink(work.sql, draft))) throw UnknownLink()
    const [id] = await store.insertDrafts(work.sql, [draft])
    const row = await store.findNotification(work.sql, id!, draft.user_id)
    if (row === null) throw UnknownLink()
    await queueChanged(work.sql, { change: 'notification_created', ids: [row.id] }, work.now)
    return row
  },
)

/** The commands whose changes are sent to users. */
export const notifyingCommands: ReadonlySet<GlobalCommand<never, unknown>> = new Set([
  markNotification,
  markNotifications,
  createNotification,
])

/** Removes a notification: the caller's own; any with an API key. Nothing is sent. */
export const removeNotification = globalCommand('removeNotification', async (work: GlobalWork, id: number) => {
  const { sql, by } = work
  requireFound(await store.findNotification(sql, id, by.kind === 'key' ? null : by.user))
  await store.removeNotification(sql, id)
})
