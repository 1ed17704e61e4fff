import type { Served } from '../../route.ts'
import { toPage, toPagedList } from '../../../api/page.ts'
import { findDirectory } from '../../directories/store.ts'
import { findUserId } from '../../users/store.ts'
import { namesOf, showNotification } from '../represent.ts'
import type { NotificationListing } from '../schema.ts'
import { listNotifications, orderFields } from './pages.ts'

type Request = Served<'sql' | 'userCache' | 'by' | 'origin'>

/** An id that no user or directory has, for unknown names. */
const none = 0

/** One page of the caller's notifications, newest first; for an API key, of all users or of one. */
export async function listPage(query: NotificationListing, app: number | undefined, request: Request) {
  const { sql, by, userCache, origin } = request
  const page = toPage(query, orderFields, 'id desc')
  const { action, type, unread: isUnread, directory: ref } = query
  const directory = ref ? ((await findDirectory(sql, ref, by))?.id ?? none) : undefined
  const user = await toUser(query.user, request)
  const filter = { user, isVisible: by.kind !== 'key', app, directory, action, type: type || undefined, isUnread }
  const { rows, count } = await listNotifications(sql, filter, page)
  await userCache.load(rows.flatMap(namesOf))
  const items = rows.map(row => showNotification(row, { userCache, origin }))
  return toPagedList(page, count, items)
}

async function toUser(ref: string | undefined, { sql, by }: Request): Promise<number | null> {
  if (by.kind !== 'key') return by.user
  return ref ? ((await findUserId(sql, ref)) ?? none) : null
}
