import type { EventTypes } from '../../../engine/catch-up.ts'

/** What a hub client subscribes to: an event of one app, or, without an app, one of its own stream. */
export interface Name {
  readonly app: number | null
  readonly event: string
}

/** The events that concern a user, whatever the app, as existing clients ask for them. */
const personal: ReadonlySet<string> = new Set([
  'app_created',
  'app_marked',
  'member_added',
  'message_created',
  'notification_created',
  'notification_updated',
  'notifications_marked',
  'online',
])

/** Sixteen digits are more than any id has that a number can hold. */
const shape = /^(?:a([1-9]\d{0,15}):)?([a-z_]{1,40})$/

/** Reads `a11:message_created` or `message_created`, in any case; null for a name that no event has. */
export function readName(text: unknown, events: EventTypes): Name | null {
  const match = typeof text === 'string' ? shape.exec(text.toLowerCase()) : null
  if (match === null) return null
  const [, app, event = ''] = match
  if (app === undefined) return personal.has(event) ? { app: null, event } : null
  return event === 'typing' || isKnown(event, events) ? { app: Number(app), event } : null
}

function isKnown(event: string, events: EventTypes): boolean {
  if (events.get(event)?.present !== undefined) return true
  for (const { hub } of events.values()) if (hub?.names.includes(event)) return true
  return false
}
