import type { EventTypes } from '../catch-up.ts'
import { unknownEvent, type AppEvent } from '../event.ts'

/** An event as nodes send it to each other, in plain values. Its app is known from the channel. */
export type PackedEvent = [
  type: string,
  rev: number,
  prev: number,
  actor: number,
  entity: number,
  facts: Record<string, unknown> | null,
  createdAt: Date,
  body: unknown,
]

export function packEvent({ type, rev, prev, actor_id, entity_id, facts, created_at, body }: AppEvent): PackedEvent {
  return [type, rev, prev, actor_id, entity_id, facts, created_at, body]
}

/** Restores an event that another node has sent. One of an unknown type is `unknownEvent`, without a body. */
export function unpackEvent(
  app_id: number,
  [type, rev, prev, actor_id, entity_id, facts, created_at, body]: PackedEvent,
  types: EventTypes,
): AppEvent {
  const kind = types.get(type)
  const row = { app_id, rev, prev, type, actor_id, entity_id, facts, created_at }
  return kind === undefined ? { ...row, kind: unknownEvent, body: null } : { ...row, kind, body }
}
