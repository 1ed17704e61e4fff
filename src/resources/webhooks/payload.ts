import type { Apps } from '../../engine/apps.ts'
import type { EventTypes } from '../../engine/catch-up.ts'
import type { AppEvent, EventType, PresentationContext } from '../../engine/event.ts'
import type { UserCache } from '../../auth/user-cache.ts'
import { reviveDates } from '../../engine/commit/revive.ts'
import type { AppRow } from '../../engine/state.ts'
import { findApp } from '../../engine/store.ts'
import type { Compose } from './delivery/queue.ts'
import type { QueuedDelivery } from './delivery/store.ts'
import { writeJson } from '../../api/json.ts'
import type { Log } from '../../lib/log.ts'
import { sharedLogId } from '../../log/events.ts'
import type { Sql } from '../../postgres/sql.ts'
import { redactApp } from '../apps/naming.ts'
import { showPicture } from '../blobs/pictures/picture.ts'
import { actorOf } from '../users/represent.ts'
import type { DeliveryFacts } from './consumer.ts'
import { findLastOfApp } from './store.ts'

interface PayloadParts {
  sql: Sql
  apps: Apps
  userCache: UserCache
  events: EventTypes
  /** Scheme and host for absolute URLs, asked for when they are made. */
  origin: () => string
  log: Log
}

/**
 * Makes payloads: the envelope of every event, and what its type tells receivers, redacted. Scalars are strings, as
 * in the API's answers. Null where there is nothing left to tell.
 */
export function composePayload({ sql, apps, userCache, events, log, ...parts }: PayloadParts): Compose {
  const findAppOf = async ({ id, app_id }: QueuedDelivery) => {
    if (app_id === sharedLogId) return null
    // In this order: a delivery takes over from the row when that is removed.
    return apps.current(app_id)?.app ?? (await findApp(sql, app_id)) ?? (await findLastOfApp(sql, id))
  }
  return async delivery => {
    // Sent again, though it could not be told the first time: of that nothing was kept.
    if (delivery.facts === null) return null
    const kind = events.get(delivery.action)
    const app = await findAppOf(delivery)
    if (kind === undefined || (app === null && delivery.app_id !== sharedLogId)) return null
    const event = toEvent(delivery, kind)
    await userCache.load([delivery.actor_id, ...(kind.names?.(event) ?? [])])
    const origin = parts.origin()
    // What belongs to no app does not look at it.
    const told = tell(event, { app: (app && redactApp(app)) as AppRow, userCache, origin }, log)
    if (told === null) return null
    const actor = actorOf(userCache.show(delivery.actor_id), origin)
    const picture = app === null || told.app === undefined ? null : await showPicture(sql, app.picture_id, origin)
    const whole = picture === null ? told : { ...told, app: { ...(told.app as object), picture } }
    return writeJson({ id: delivery.event_id, action: delivery.action, actor, ...whole }, 'string')
  }
}

function tell(event: AppEvent, context: PresentationContext, log: Log): Record<string, unknown> | null {
  const { kind } = event
  try {
    return (kind.redact === undefined ? kind.present?.(event, context) : kind.redact(event, context)) ?? null
  } catch (error) {
    // A bug in one type of event must not hold up everything behind it in the queue.
    log.error({ event: event.rev, type: event.type, error }, 'A payload could not be made')
    return null
  }
}

function toEvent({ event_id, action, app_id, actor_id, facts }: QueuedDelivery, kind: EventType<unknown>): AppEvent {
  // Written by Registrations; as JSON, dates have become text.
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
