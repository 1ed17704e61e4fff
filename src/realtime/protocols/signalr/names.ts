import type { EventTypes } from '../../../engine/catch-up.ts'

/** A subscription of a hub client: an event of one app, or, without an app, one of the user's own events. */
export interface Name {
  readonly app: number | null
  readonly event: string
}

/** The events of a user, whatever the app, by the names that existing clients use. */
const userEvents: ReadonlySet<string> = new Set([
  'app_created',
  'app_marked',
  'member_added',
  'message_created',
  'notification_created',
  'notification_updated',
  'notifications_marked',
  'online',
])

/** Sixteen digits exceed every id that a number can hold. */
const namePattern = /^(?:a([1-9]\d{0,15}):)?([a-z_]{1,40})$/

/** Parses `a11:message_created` or `message_created`, in any case; null for a name that no event has. */
export function readName(text: unknown, events: EventTypes): Name | null {
  const match = typeof text === 'string' ? namePattern.exec(text.toLowerCase()) : null
  if (match === null) return null
  const [, app, event = ''] = match
  if (app === undefined) return userEvents.has(event) ? { app: null, event } : null
  return event === 'typing' || isKnown(event, events) ? { app: Number(app), event } : null
}

function isKnown(event: string, events: EventTypes): boolean {
  if (events.get(event)?.present !== undefined) return true
  for (const { hub } of events.values()) if (hub?.names.includes(event)) return true
  return false
}
