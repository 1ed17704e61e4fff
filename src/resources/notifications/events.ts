import { z } from 'zod'
import { event } from '../../engine/event.ts'
import { showAppRef } from '../apps/represent.ts'
import { DeliveredApp } from '../apps/schema.ts'
import { namesOf, redactNotification } from './represent.ts'
import { Notification, type NotificationRow } from './schema.ts'

/** Events of notifications for webhooks. They belong to no app's history, so they are never replayed. */
const change = (type: string) =>
  event<NotificationRow>({
    type,
    entity: 'notification',
    isActivity: false,
    trigger: 'notifications',
    payload: z.object({ notification: Notification.extend({ template: z.string().optional() }) }),
    names: ({ body }) => (body === null ? [] : namesOf(body)),
    redact: ({ body }, { userCache, origin }) =>
      body && { notification: redactNotification({ ...body, args: [] }, { userCache, origin }) },
  })

/** Several notifications were marked as read; `facts.app_id` is set where all are of one app. */
const marked = event<null>({
  type: 'notifications_marked',
  entity: 'notification',
  isActivity: false,
  trigger: 'notifications',
  payload: z.object({ app: DeliveredApp.optional() }),
  redact: ({ facts }, { app, origin }) =>
    (facts as { app_id: number | null } | null)?.app_id ? { app: showAppRef(app, origin) } : {},
})

export const events = [change('notification_created'), change('notification_updated'), marked]
