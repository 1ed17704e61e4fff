import { event } from '../../engine/event.ts'
import { showAppRef } from '../apps/represent.ts'
import { namesOf, redactNotification } from './represent.ts'
import type { NotificationRow } from './schema.ts'

/** What webhooks are told of notifications. They are no part of an app's history: nothing of them is replayed. */
const change = (type: string) =>
  event<NotificationRow>({
    type,
    entity: 'notification',
    isActivity: false,
    trigger: 'notifications',
    names: ({ body }) => (body === null ? [] : namesOf(body)),
    redact: ({ body }, { userCache, origin }) =>
      body && { notification: redactNotification({ ...body, args: [] }, { userCache, origin }) },
  })

/** Several were marked as read at once; `facts.app_id` where these were those of one app. */
const marked = event<null>({
  type: 'notifications_marked',
  entity: 'notification',
  isActivity: false,
  trigger: 'notifications',
  redact: ({ facts }, { app, userCache, origin }) =>
    (facts as { app_id: number | null } | null)?.app_id ? { app: showAppRef(app, userCache, origin) } : {},
})

export const events = [change('notification_created'), change('notification_updated'), marked]
