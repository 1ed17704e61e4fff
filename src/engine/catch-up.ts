import { listEventsOf, type EventRow } from '../log/events.ts'
import type { Db } from '../postgres/sql.ts'
import { applyEvent, unknownEvent, type AppEvent, type EventType, type Loaded } from './event.ts'
import type { AppRow, AppState } from './state.ts'
import { findApps } from './store.ts'

/** How many events of one app are read at once. A guess: bodies of this many messages are well below a megabyte. */
const pageSize = 500

/** The events that resources declare, by name. */
export type EventTypes = ReadonlyMap<string, EventType<unknown>>

/** What a state has missed: events that lead to the app's row as it is now. */
export interface Missed {
  readonly events: readonly AppEvent[]
  readonly row: AppRow
}

/** What has been read of it. */
interface Reading {
  readonly app: number
  readonly events: AppEvent[]
  /** The rev that the events reach. */
  end: number
  /** The newest rev that the app's row was seen with: the log has events up to it, unless they were dropped. */
  head: number
  /** Set when the events reach it. */
  row: AppRow | null
}

/**
 * Reads what states have missed, by app. Null where the log no longer reaches back far enough, or the app is gone: that
 * state must be loaded anew. A thousand apps need no more queries than one.
 */
export async function readMissed(
  db: Db,
  states: Iterable<AppState>,
  types: EventTypes,
): Promise<Map<number, Missed | null>> {
  const found = new Map<number, Missed | null>()
  let behind: Reading[] = Array.from(states, ({ app: { id, head_rev } }) => ({
    app: id,
    events: [],
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

/** Brings a state to where the events lead. The caller publishes the events. */
export function applyMissed(state: AppState, { events, row }: Missed): void {
  for (const event of events) applyEvent(state, event)
  // Bodies are read as they are now, so counters folded from them may be ahead or behind: the row is the truth.
  state.app = row
}

/** Reads the next events of all apps, then the apps' rows. Returns the apps to whose head no events lead. */
async function readOn(db: Db, behind: readonly Reading[], types: EventTypes): Promise<Reading[]> {
  const starts = behind.map(({ app, end }) => ({ app, rev: end }))
  const events = await withBodies(db, await listEventsOf(db, starts, pageSize), types)
  const byApp = Map.groupBy(events, ({ app_id }) => app_id)
  const ids = behind.map(({ app }) => app)
  const rows = await findApps(db, ids)
  return behind.filter(reading => {
    const next = byApp.get(reading.app) ?? []
    const row = rows.get(reading.app)
    const isJoined = next.length === 0 || next[0]!.prev === reading.end
    reading.events.push(...next)
    reading.end = next.at(-1)?.rev ?? reading.end
    // What the row was ahead by before these events were read should have been among them.
    const isCut = reading.end < reading.head && next.length < pageSize
    if (row === undefined || !isJoined || isCut) return true
    if (row.head_rev <= reading.end) reading.row = row
    else reading.head = row.head_rev
    return false
  })
}

/** Turns rows of the log into events, with what their entities look like now. One query for each event type. */
export async function withBodies(db: Db, rows: EventRow[], types: EventTypes): Promise<AppEvent[]> {
  const entities = Map.groupBy(rows, ({ type }) => types.get(type))
  const bodies = new Map<EventType<unknown>, Loaded<unknown>>()
  for (const [kind, about] of entities) if (kind?.load !== undefined) bodies.set(kind, await kind.load(db, about))
  return rows.map(row => {
    const kind = types.get(row.type)
    // An event that this version does not know was written by a newer one; its rev still counts.
    if (kind === undefined) return { ...row, kind: unknownEvent, body: null }
    return { ...row, kind, body: bodies.get(kind)?.(row) ?? null }
  })
}
