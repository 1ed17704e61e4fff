import type { Apps } from '../../engine/apps.ts'
import type { EventTypes } from '../../engine/catch-up.ts'
import { appAsOf, type AppEvent, type EventType, type PresentationContext } from '../../engine/event.ts'
import type { UserCache } from '../../auth/user-cache.ts'
import { reviveDates } from '../../engine/commit/revive.ts'
import type { AppRow } from '../../engine/state.ts'
import { findApp } from '../../engine/store.ts'
import type { Compose } from './delivery/queue.ts'
import type { QueuedDelivery } from './delivery/store.ts'
import { Fixed, writeJson } from '../../api/json.ts'
import type { Log } from '../../lib/log.ts'
import { sharedLogId } from '../../log/events.ts'
import type { Sql } from '../../postgres/sql.ts'
import { redactApp } from '../apps/naming.ts'
import { showPicture } from '../blobs/pictures/picture.ts'
import { actorOf, personOf } from '../users/represent.ts'
import type { DeliveryFacts } from './consumer.ts'
import { findLastOfApp } from './delivery/record-store.ts'

export interface PayloadParts {
  sql: Sql
  apps: Apps
  userCache: UserCache
  events: EventTypes
  /** The origin of absolute URLs, read when they are made. */
  origin: () => string
  log: Log
}

/**
 * Makes payloads: the envelope of all events, and the redacted members of its type. Numbers are strings, as in the
 * API's responses. Null where there is nothing left to send.
 */
export function composePayload({ sql, apps, userCache, events, log, ...parts }: PayloadParts): Compose {
  const findAppOf = async ({ id, app_id }: QueuedDelivery) => {
    if (app_id === sharedLogId) return null
    // In this order: when the row is removed, the delivery gets a copy of it.
    return apps.current(app_id)?.app ?? (await findApp(sql, app_id)) ?? (await findLastOfApp(sql, id))
  }
  return async delivery => {
    // A redelivery of a delivery without a payload: none of its facts were kept.
    if (delivery.facts === null) return null
    const kind = events.get(delivery.action)
    const app = await findAppOf(delivery)
    if (kind === undefined || (app === null && delivery.app_id !== sharedLogId)) return null
    const event = toEvent(delivery, kind)
    await userCache.load([delivery.actor_id, ...(kind.names?.(event) ?? [])])
    const origin = parts.origin()
    // Events of no app do not use it.
    const then = app && appAsOf(redactApp(app), event)
    const told = tell(event, { app: then as AppRow, userCache, origin }, log)
    if (told === null) return null
    const actor = actorOf(userCache.show(delivery.actor_id), origin)
    const picture = app === null || told.app === undefined ? null : await showPicture(sql, app.picture_id, origin)
    const whole = picture === null ? told : { ...told, app: { ...(told.app as object), picture } }
    const payload = { id: delivery.event_id, action: delivery.action, actor, ...whole }
    return writeJson(withoutProfiles(payload, origin), 'string')
  }
}

/**
 * Names people in the short form, wherever they stand: their e-mail address and telephone number, and the rest of their
 * profile, a receiver reads through the API, with a credential that may see them.
 */
function withoutProfiles(value: unknown, origin: string): unknown {
  if (value instanceof Fixed) {
    const person = personOf(value)
    return person === undefined ? value : actorOf(person, origin)
  }
  if (Array.isArray(value)) return value.map(one => withoutProfiles(one, origin))
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutProfiles(one, origin)]))
}

function tell(event: AppEvent, context: PresentationContext, log: Log): Record<string, unknown> | null {
  const { kind } = event
  try {
    return (kind.redact === undefined ? kind.present?.(event, context) : kind.redact(event, context)) ?? null
  } catch (error) {
    // A bug in one type of event must not block the deliveries behind it.
    log.error({ event: event.rev, type: event.type, error }, 'A payload could not be made')
    return null
  }
}

function toEvent({ event_id, action, app_id, actor_id, facts }: QueuedDelivery, kind: EventType<unknown>): AppEvent {
  // Written by Registrations; in JSON, dates are text.
  const kept = facts as unknown as DeliveryFacts
  return {
    kind,
    app_id,
    rev: event_id,
    prev: 0,
    type: action,
    actor_id,
    entity_id: kept.entity_id,
    facts: kept.facts,
    created_at: new Date(kept.created_at),
    body: reviveDates(kept.body),
  }
}
