import { listEventsOf, type EventRow } from '../log/events.ts'
import type { Db } from '../postgres/sql.ts'
import { Draft } from './draft.ts'
import { applyEvent, unknownEvent, type AppEvent, type Commit, type EventType, type Loaded } from './event.ts'
import { recentLimit } from './recent.ts'
import type { AppRow, AppState } from './state.ts'
import { findApps } from './store.ts'

/** Events of one app that a query reads. A guess: the bodies of this many messages are well below a megabyte. */
const pageSize = 500

/** The event types that resources declare, by name. */
export type EventTypes = ReadonlyMap<string, EventType<unknown>>

/** What other nodes have committed to an app since a state was current. */
export interface Missed {
  /** In rev order, without a gap. */
  readonly events: readonly AppEvent[]
  /** The app's row after the last of the events. */
  readonly row: AppRow
}

interface MissedOptions {
  types: EventTypes
  /** True where listeners need all events of an app that were missed, however many. */
  isFollowed(app: number): boolean
}

/** The progress of reading what one state has missed. */
interface Reading {
  readonly app: number
  readonly events: AppEvent[]
  /** The most events to read. */
  readonly most: number
  /** The rev of the last event that was read, or of the state. */
  end: number
  /** The newest rev that the app's row was read with. The log has all events up to it, unless they were dropped. */
  head: number
  /** The app's row, once the events reach it. */
  row: AppRow | null
}

/**
 * Reads what states have missed, by app. Null where the state must be loaded again: the log no longer reaches back far
 * enough, the app is gone, or no listener follows it and its events are more rows than loading it reads. The number of
 * queries does not depend on the number of apps.
 */
export async function readMissed(
  db: Db,
  states: Iterable<AppState>,
  { types, isFollowed }: MissedOptions,
): Promise<Map<number, Missed | null>> {
  const found = new Map<number, Missed | null>()
  let behind: Reading[] = Array.from(states, ({ app: { id, head_rev }, memberCount }) => ({
    app: id,
    events: [],
    most: isFollowed(id) ? Infinity : memberCount + recentLimit,
    end: head_rev,
    head: 0,
    row: null,
  }))
  while (behind.length > 0) {
    for (const { app } of await readOn(db, behind, types)) found.set(app, null)
    for (const { app, events, row } of behind) if (row !== null) found.set(app, { events, row })
    behind = behind.filter(({ app }) => !found.has(app))
  }
  return found
}

/** Applies events that other nodes have committed to a state, all or none. The caller publishes the commit. */
export function applyMissed(state: AppState, { events, row }: Pick<Missed, 'events'> & Partial<Missed>): Commit {
  const draft = new Draft(state)
  for (const event of events) applyEvent(draft, event)
  // A body is read as it is now, not as it was at the event, so counters that events computed may differ from the row.
  if (row !== undefined) draft.app = row
  return draft.adopt(events)
}

/** Reads the next events of all apps, then the apps' rows. Returns the apps that must be loaded again. */
async function readOn(db: Db, behind: readonly Reading[], types: EventTypes): Promise<Reading[]> {
  const limitOf = ({ most, events }: Reading) => Math.min(pageSize, most - events.length)
  const starts = behind.map(reading => ({ app: reading.app, rev: reading.end, limit: limitOf(reading) }))
  const events = await withBodies(db, await listEventsOf(db, starts), types)
  const byApp = Map.groupBy(events, ({ app_id }) => app_id)
  const ids = behind.map(({ app }) => app)
  const rows = await findApps(db, ids)
  return behind.filter(reading => {
    const next = byApp.get(reading.app) ?? []
    const row = rows.get(reading.app)
    const isJoined = next.length === 0 || next[0]!.prev === reading.end
    const hasRoom = next.length < limitOf(reading)
    reading.events.push(...next)
    reading.end = next.at(-1)?.rev ?? reading.end
    // The row was ahead of the log already before this read, and a page with room left did not reach it.
    const isCut = reading.end < reading.head && hasRoom
    if (row === undefined || !isJoined || isCut) return true
    if (row.head_rev <= reading.end) reading.row = row
    else reading.head = row.head_rev
    return reading.row === null && reading.events.length >= reading.most
  })
}

/**
 * Turns rows of the log into events; one query for each event type. Their bodies are the entities as they are now, so
 * that what was deleted or redacted stays gone, with the counts of the event.
 */
export async function withBodies(db: Db, rows: EventRow[], types: EventTypes): Promise<AppEvent[]> {
  const entities = Map.groupBy(rows, ({ type }) => types.get(type))
  const bodies = new Map<EventType<unknown>, Loaded<unknown>>()
  for (const [kind, about] of entities) if (kind?.load !== undefined) bodies.set(kind, await kind.load(db, about))
  return rows.map(row => {
    const kind = types.get(row.type)
    // A node of a newer version wrote the event. Its rev still counts.
    if (kind === undefined) return { ...row, kind: unknownEvent, body: null }
    const body = bodies.get(kind)?.(row) ?? null
    return { ...row, kind, body: body === null || kind.countAsOf === undefined ? body : kind.countAsOf(body, row) }
  })
}
