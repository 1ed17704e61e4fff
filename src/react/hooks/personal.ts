import type { AppUnread, Notification, Notifications, Unread, UnreadSummary } from '@parley/client'
import { useParley } from './context.tsx'
import type { AppRef } from './items.ts'
import { nothing, useLive, type Live } from './live.ts'

const noSummary = nothing<UnreadSummary>({ count: 0, apps: [] })
const noUnread = nothing<Unread>({ is_unread: false, last_id: undefined, marked_id: undefined })
const noNotifications = nothing<readonly Notification[]>([])

/** In which apps the user has something unread; with an app, what of it, and `actions.mark`. */
export function useUnread(): Live<UnreadSummary>
export function useUnread(app: AppRef): Live<Unread> & { readonly actions: AppUnread | undefined }
export function useUnread(...args: [] | [AppRef]) {
  const parley = useParley()
  const [app] = args
  // A component either names an app or does not.
  if (args.length === 0) return useLive(parley.unread, noSummary)
  const actions = app === undefined ? undefined : parley.app(app).unread
  return { ...useLive(actions, noUnread), actions }
}

/** The notifications of the user, newest first; `actions` has `mark` and `markAll`. */
export function useNotifications(): Live<readonly Notification[]> & { readonly actions: Notifications } {
  const { notifications } = useParley()
  return { ...useLive(notifications, noNotifications), actions: notifications }
}
