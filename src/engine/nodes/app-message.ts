import { isId, isRecord } from '../../cluster/message.ts'
import type { EventTypes } from '../catch-up.ts'
import { unknownEvent, type AppEvent, type EventType } from '../event.ts'

/** A message on the channel of an app: the events of a commit, or a user who is typing. */
export type AppMessage = { node: string; events: PackedEvent[] } | { node: string; user: number }

/** An event as nodes send it to each other, in plain values. Its app is known from the channel. */
type PackedEvent = [
  type: string,
  rev: number,
  prev: number,
  actor: number,
  entity: number,
  facts: Record<string, unknown> | null,
  createdAt: Date,
  body: unknown,
  key: string | null,
]

/** Throws for any other value. Written by hand: every commit to an app with subscribers elsewhere passes here. */
export function readAppMessage(received: unknown): AppMessage {
  if (!isRecord(received) || typeof received.node !== 'string') throw new TypeError('A message without a node')
  if ('user' in received ? isId(received.user) : isListOfEvents(received.events)) return received as AppMessage
  throw new TypeError('No message of an app')
}

/** Packs an event for other nodes. */
export function packEvent(event: AppEvent): PackedEvent {
  const { type, rev, prev, actor_id, entity_id, facts, created_at, body, key = null } = event
  return [type, rev, prev, actor_id, entity_id, facts, created_at, body, key]
}

/**
 * Restores an event that another node has sent. One of an unknown type is `unknownEvent`, without a body. Throws where
 * the body is another entity than the event's.
 */
export function unpackEvent(
  app_id: number,
  [type, rev, prev, actor_id, entity_id, facts, created_at, body, key]: PackedEvent,
  types: EventTypes,
): AppEvent {
  const kind = types.get(type)
  const row = { app_id, rev, prev, type, actor_id, entity_id, facts, created_at, key }
  if (kind === undefined) return { ...row, kind: unknownEvent, body: null }
  if (!isBodyOf(kind, row, body)) throw new TypeError('The body of an event is another entity')
  return { ...row, kind, body }
}

function isListOfEvents(events: unknown): boolean {
  if (!Array.isArray(events) || events.length === 0) return false
  let before: number | null = null
  for (const event of events) {
    if (!isEvent(event) || (before !== null && event[2] !== before)) return false
    before = event[1]
  }
  return true
}

function isEvent(event: unknown): event is PackedEvent {
  if (!Array.isArray(event)) return false
  const [type, rev, prev, actor, entity, facts, createdAt, , key] = event as unknown[]
  return (
    typeof type === 'string' &&
    isId(rev) &&
    isId(prev) &&
    prev < rev &&
    // Of deleted users -1.
    Number.isSafeInteger(actor) &&
    Number.isSafeInteger(entity) &&
    (facts === null || isRecord(facts)) &&
    createdAt instanceof Date &&
    !Number.isNaN(createdAt.getTime()) &&
    (key === null || typeof key === 'string')
  )
}

/** Members are rows by app and user, all other entities rows by id; some bodies only say that there is one. */
function isBodyOf(
  { entity }: EventType<unknown>,
  { app_id, entity_id }: Pick<AppEvent, 'app_id' | 'entity_id'>,
  body: unknown,
): boolean {
  if (body === null || body === true) return true
  if (!isRecord(body)) return false
  return entity === 'user' ? body.user_id === entity_id && body.app_id === app_id : body.id === entity_id
}
