import { verbatim } from '../../api/json.ts'
import { showType } from '../apps/kinds.ts'
import { actorOf } from '../users/represent.ts'
import type { Served } from '../route.ts'
import { compose } from './rolled/text.ts'
import type { NotificationRow } from './schema.ts'
import { fill } from './text.ts'

type Viewer = Served<'userCache' | 'origin'>

/** The type of notifications made through the API. */
export const custom = 'custom'

/** All users whom a notification names. */
export function namesOf({ user_id, actor_ids, rolled }: NotificationRow): number[] {
  return [user_id, ...(rolled?.authors.slice(0, 2) ?? [actor_ids[0] ?? 0])]
}

/** The notification as its recipient sees it. The users whom it names must be in memory. */
export function showNotification(row: NotificationRow, viewer: Viewer) {
  const { template, args } = compose(row, viewer.userCache)
  return { ...showFrame(row, viewer), template, args, ...fill(template, args) }
}

/** The notification without its text, which receivers of webhooks fetch with a token of the recipient. */
export function redactNotification(row: NotificationRow, viewer: Viewer) {
  return { ...showFrame(row, viewer), template: row.action === custom ? null : compose(row, viewer.userCache).template }
}

function showFrame(row: NotificationRow, { userCache, origin }: Viewer) {
  return {
    id: row.id,
    type: row.type,
    action: row.action,
    actor: actorOf(userCache.show(row.rolled?.authors[0] ?? row.actor_ids[0] ?? 0), origin),
    link: showLink(row),
    user: actorOf(userCache.show(row.user_id), origin),
    metadata: verbatim(row.metadata),
    created_at: row.created_at,
    updated_at: row.rolled !== undefined && row.rolled.count > 1 ? row.rolled.created_at : row.updated_at,
    is_unread: row.is_unread,
  }
}

function showLink(row: NotificationRow) {
  const { link_type, parent_type, parent_id, app_id, app_uid, app_type } = row
  const id = row.rolled?.message_id ?? row.from_id ?? row.link_id
  if (link_type === null || id === null) return null
  return {
    id,
    type: link_type,
    parent: parent_id === null ? null : { id: parent_id, type: parent_type },
    app: app_id === null || app_type === null ? null : { id: app_id, uid: app_uid, ...showType(app_type) },
  }
}
