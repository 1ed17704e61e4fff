import { listEvents, type EventRow } from '../storage/events.ts'
import type { Db } from '../storage/sql.ts'
import { fold, type AppEvent, type EventType } from './event.ts'
import type { AppRow, AppState } from './state.ts'
import { findApp } from './store.ts'

/** How many events are read at once. A guess: bodies of this many messages are well below a megabyte. */
const pageSize = 500

/** The events that resources declare, by name. */
export type EventTypes = ReadonlyMap<string, EventType<unknown>>

/**
 * Brings a state to the app's newest rev by the events that it missed, and returns these. Null when the log no longer
 * reaches back far enough, or the app is gone: the state must then be loaded anew. Where it rejects, nothing has changed:
 * whoever follows the state must be told of what is in it.
 */
export async function catchUp(db: Db, state: AppState, types: EventTypes): Promise<AppEvent[] | null> {
  const { id } = state.app
  const missed: AppEvent[] = []
  let reached = state.app.head_rev
  let app: AppRow | null
  do {
    let rows: EventRow[]
    do {
      rows = await listEvents(db, id, reached, pageSize)
      if (rows.length > 0 && rows[0]!.prev !== reached) return null
      missed.push(...(await withBodies(db, rows, types)))
      reached = rows.at(-1)?.rev ?? reached
    } while (rows.length === pageSize)
    app = await findApp(db, id)
    if (app === null) return null
    // It may be ahead of the events by what was committed since, or of a log that was dropped.
  } while (app.head_rev > reached && (await hasMore(db, id, reached)))
  if (app.head_rev > reached) return null
  for (const event of missed) fold(state, event)
  // Bodies are read as they are now, so counters folded from them may be ahead or behind: the row is the truth.
  state.app = app
  return missed
}

async function hasMore(db: Db, app: number, rev: number): Promise<boolean> {
  return (await listEvents(db, app, rev, 1)).length > 0
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
