import type { z } from 'zod'
import type { EventRow } from '../log/events.ts'
import type { Db } from '../postgres/sql.ts'
import type { UserCache } from '../auth/user-cache.ts'
import { copyOf, type AppRow, type AppState, type MemberRow, type State } from './state.ts'

export type EntityType =
  | 'app'
  | 'audit_entry'
  | 'comment'
  | 'file'
  | 'message'
  | 'notification'
  | 'option'
  | 'post'
  | 'reaction'
  | 'run'
  | 'star'
  | 'user'

/**
 * One committed change. `rev` is its place in the app's history and `prev` the place before it. `body` is what the
 * change left behind (a message row, a member row); null when that is hidden or gone by the time the event is read again.
 */
export interface AppEvent<Body = unknown> {
  kind: EventType<Body>
  app_id: number
  rev: number
  prev: number
  type: string
  actor_id: number
  entity_id: number
  facts: Record<string, unknown> | null
  created_at: Date
  body: Body | null
}

/**
 * What became of an app in a commit, or in the commits of other nodes that this node has read together. No listener
 * changes it, and nothing else does; `state` alone goes on with later commits.
 */
export interface Commit {
  readonly state: AppState
  /** The app's row before; `state.app` is the one after. */
  readonly before: AppRow
  /** In rev order. None where the app was loaded anew, or is gone. */
  readonly events: readonly AppEvent[]
  /** The users whose relation to the app was written, with the row before. */
  readonly members: ReadonlyMap<number, MemberRow | undefined>
}

/** Called after a commit, whichever node made it; for one app in rev order. */
export type CommitListener = (commit: Commit) => void

/** What an event is about. A user is one entity in each app; everything else has an id of its own. */
export type EntityRef = Pick<EventRow, 'app_id' | 'entity_id'>

/** Finds a body among those that were read together. */
export type Loaded<Body> = (of: EntityRef) => Body | undefined

/** What the presentation of an event may look at. */
export interface PresentationContext {
  app: AppRow
  userCache: UserCache
  /** Scheme and host for absolute URLs. */
  origin: string
}

/** What a resource declares of an event. Names are the API's own, in the past tense: `message_created`. */
export interface EventType<Body> {
  type: string
  entity: EntityType
  /** True where the event counts as activity: the app gets a new `rev` in the API and moves up in lists. */
  isActivity: boolean
  /** The webhook trigger, for events that are sent to receivers. */
  trigger?: string
  /**
   * Folds the event into the state of its app, whose row is a copy for this event to change. Must come out the same on
   * every node, on a draft and on a state loaded later, and must bear a body that is newer than the event: a replay reads
   * the entity as it is now.
   */
  apply?(state: State, event: AppEvent<Body>): void
  /**
   * Brings a state back to before the event, as far as users' lists of apps depend on it: for a node that has only the
   * present rows, and has to find for whom the app has appeared or disappeared. An approximation: where neither row nor
   * event says what was before, the likeliest is assumed.
   */
  revert?(state: State, event: AppEvent<Body>): void
  /** Reads the bodies again, for events of any number of apps. What is gone or in the trash is not found. */
  load?(db: Db, entities: readonly EntityRef[]): Promise<Loaded<Body>>
  /** Ids of the people that `present` names, the actor aside. */
  names?(event: AppEvent<Body>): number[]
  /**
   * The event's own properties as clients get them, in the whole form, without anything that depends on who looks: `{
   * message: {…} }`. Null where nothing is left that every subscriber may see. The users that it names are in memory.
   */
  present?(event: AppEvent<Body>, context: PresentationContext): Record<string, unknown> | null
  /** The members that `present` gives, as they are written: of what clients get beside who did it and when. */
  schema?: z.ZodObject
  /** Finer names of some of these events for clients of the hub: which there are, and what this one is called. */
  hub?: { names: readonly string[]; nameOf(event: AppEvent<Body>): string }
  /**
   * What clients of the hub are told while it depends on who looks. They are told of a change as a whole and show what
   * it says; all others ask again. A frame is written for each of them, so this is for what happens rarely.
   */
  perUser?: {
    /** Ids of the people that `present` names, for everybody; none while all are told the same. */
    names(state: AppState): number[]
    present(state: AppState, user: number, context: PresentationContext): Record<string, unknown>
  }
  /**
   * False where realtime clients do not get the event, as the app is now: it would be too many, or is not for others.
   */
  isBroadcast?(state: AppState): boolean
  /** As `present`, for webhook receivers: text and names of content are redacted. Default: what `present` gives. */
  redact?(event: AppEvent<Body>, context: PresentationContext): Record<string, unknown> | null
  /** The body as queued deliveries keep it, with all that `redact` needs. Default: without text, html and plain. */
  forQueue?(body: Body): unknown
}

/** Loads the bodies of events by their entities' ids, which are those of rows. */
export function byId<Body>(find: (db: Db, ids: number[]) => Promise<Map<number, Body>>) {
  return async (db: Db, entities: readonly EntityRef[]): Promise<Loaded<Body>> => {
    const found = await find(db, [...new Set(entities.map(({ entity_id }) => entity_id))])
    return ({ entity_id }) => found.get(entity_id)
  }
}

/** Declares an event. */
export function event<Body>(declared: EventType<Body>): EventType<Body> {
  return declared
}

/** Of a version that this one does not know: its rev counts, and nothing else. */
export const unknownEvent: EventType<unknown> = { type: 'unknown', entity: 'app', isActivity: false }

/** Moves an app's state over one event. */
export function applyEvent(state: State, event: AppEvent): void {
  state.app = copyOf(state.app)
  event.kind.apply?.(state, event)
  const { app } = state
  app.head_rev = event.rev
  app.head_at = event.created_at
  if (event.kind.isActivity) app.rev = event.rev
}

/** Brings a state back over one event, as far as lists of apps depend on it; the newest event comes first. */
export function revertEvent(state: State, event: AppEvent): void {
  event.kind.revert?.(state, event)
}
