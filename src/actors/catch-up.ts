import { listEvents, type EventRow } from '../storage/events.ts'
import type { Db } from '../storage/sql.ts'
import { fold, type AppEvent, type EventType } from './event.ts'
import { findApp, type AppState } from './state.ts'

/** How many events are read at once. A guess: bodies of this many messages are well below a megabyte. */
const pageSize = 500

/** The events that resources declare, by name. */
export type EventTypes = ReadonlyMap<string, EventType<unknown>>

/**
 * Brings a state to the app's newest rev by the events that it missed, and returns these. Null when the log no longer
 * reaches back far enough, or the app is gone: the state must then be loaded anew.
 */
export async function catchUp(db: Db, state: AppState, types: EventTypes): Promise<AppEvent[] | null> {
  const missed: AppEvent[] = []
  for (;;) {
    const rows = await listEvents(db, state.app.id, state.app.head_rev, pageSize)
    if (rows.length > 0 && rows[0]!.prev !== state.app.head_rev) return null
    for (const event of await withBodies(db, rows, types)) {
      fold(state, event)
      missed.push(event)
    }
    if (rows.length < pageSize) break
  }
  const app = await findApp(db, state.app.id)
  if (app === null) return null
  // Bodies are read as they are now, so counters folded from them may be ahead or behind: the row is the truth. It may
  // be ahead of the events by what was committed since; those are then found by the next look.
  const reached = state.app.head_rev
  state.app = { ...app, head_rev: reached }
  if (app.head_rev <= reached) return missed
  // Ahead of a log that has nothing more to say: what is between was dropped.
  const [next] = await listEvents(db, app.id, reached, 1)
  return next === undefined ? null : concat(missed, await catchUp(db, state, types))
}

function concat(missed: AppEvent[], more: AppEvent[] | null): AppEvent[] | null {
  return more === null ? null : [...missed, ...more]
}

/** Turns rows of one app's log into events, with what their entities look like now. One query for each event type. */
export async function withBodies(db: Db, rows: EventRow[], types: EventTypes): Promise<AppEvent[]> {
  const entities = new Map<EventType<unknown>, number[]>()
  for (const row of rows) {
    const kind = types.get(row.type)
    if (kind?.load === undefined) continue
    const ids = entities.get(kind) ?? []
    entities.set(kind, [...ids, row.entity_id])
  }
  const bodies = new Map<EventType<unknown>, Map<number, unknown>>()
  for (const [kind, ids] of entities) bodies.set(kind, await kind.load!(db, rows[0]!.app_id, [...new Set(ids)]))
  return rows.flatMap(row => {
    const kind = types.get(row.type)
    // An event that this version does not know was written by a newer one; its rev still counts.
    if (kind === undefined) return [{ ...row, kind: unknownEvent, body: null }]
    return [{ ...row, kind, body: bodies.get(kind)?.get(row.entity_id) ?? null }]
  })
}

const unknownEvent: EventType<unknown> = { type: 'unknown', entity: 'app', touches: false }
