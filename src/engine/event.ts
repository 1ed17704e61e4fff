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

/** A change of an app that a command has made. */
export interface AppEvent<Body = unknown> {
  kind: EventType<Body>
  app_id: number
  /** The place of the event in the one order of all events. */
  rev: number
  /** The rev of the app's event before this one; 0 for its first. */
  prev: number
  type: string
  actor_id: number
  entity_id: number
  facts: Record<string, unknown> | null
  created_at: Date
  /** The Idempotency-Key of the request that made it, as it was sent: see EventRow. */
  key?: string | null
  /** The API's `rev` of the app after the event. Absent before the event is applied, or where the log has lost it. */
  app_rev?: number
  /**
   * The entity after the change, such as the row of a message or a member. An event that is read from the log has the
   * entity as it is then, but for its counts (see `EventType.countAsOf`), or null where it is hidden or gone.
   */
  body: Body | null
}

/** A commit to an app, or several commits of other nodes that this node has read together. Immutable. */
export interface Commit {
  /** The app's row before the commit and after it. */
  readonly before: AppRow
  readonly after: AppRow
  /** In rev order. Empty where the app was loaded again, or is gone. */
  readonly events: readonly AppEvent[]
  /** The member rows that the commit has written, by user. */
  readonly members: ReadonlyMap<number, MemberChange>
}

/** The rows of a user in an app before and after a commit. */
export interface MemberChange {
  readonly before: MemberRow | undefined
  readonly after: MemberRow | undefined
}

/** Called after each commit of any node, in rev order for each app. `state` is the app's, which later commits change. */
export type CommitListener = (commit: Commit, state: AppState) => void

/** The entity that an event is about. A user is one entity in each app; all other ids are unique over all apps. */
export type EntityRef = Pick<EventRow, 'app_id' | 'entity_id'>

/** Returns the body of an entity, where it was found. */
export type Loaded<Body> = (of: EntityRef) => Body | undefined

/** The data that the presentation of an event may depend on. */
export interface PresentationContext {
  app: AppRow
  userCache: UserCache
  /** Scheme and host for absolute URLs. */
  origin: string
}

/** An event type, as a resource declares it. Its name is the API's, in the past tense: `message_created`. */
export interface EventType<Body> {
  type: string
  entity: EntityType
  /** True where the event is activity: the app gets a new `rev` in the API and moves up in lists. */
  isActivity: boolean
  /**
   * False where the event changes nothing that a commuting command decides on (see `Command.commutes`). Otherwise no
   * command that was decided without knowing of the event is committed after it. Default: true.
   */
  isGuard?(event: AppEvent<Body>): boolean
  /** The name of the webhook trigger. Absent where webhooks do not get the event. */
  trigger?: string
  /**
   * Applies the event to the state of its app; `state.app` is a copy that may be changed. Must have the same effect on
   * every node, on a draft and on a state that was loaded later, and must accept a body that is newer than the event: a
   * replay reads the entity as it is now.
   */
  apply?(state: State, event: AppEvent<Body>): void
  /** Gives an entity that the event has made the id and the time that the commit has assigned. */
  assign?(body: Body, id: number, at: Date): void
  /**
   * Restores of a state before the event what users' lists of apps depend on: for a node that does not hold the app, and
   * finds from its rows and its events for whom the app has appeared or disappeared. What the rows no longer show, the
   * event's facts say. Read markers and newest messages are restored as different from the present ones, not exactly.
   */
  revert?(state: State, event: AppEvent<Body>): void
  /** Reads bodies from the database, for events of any number of apps. Trashed or removed entities are not found. */
  load?(db: Db, entities: readonly EntityRef[]): Promise<Loaded<Body>>
  /**
   * The body with its counts as they were right after the event, from the event's facts. Of a replay the body is read
   * from the database, with the counts of that moment: a client that adds up later events would count
   * them twice. Absent where the body has no counts.
   */
  countAsOf?(body: Body, event: Pick<EventRow, 'rev' | 'facts'>): Body
  /** Ids of the users whose names `present` shows, without the actor. */
  names?(event: AppEvent<Body>): number[]
  /**
   * The event's own properties in frames to clients, in the whole representation: `{ message: {…} }`. One result serves
   * all subscribers. Null where nothing is left that every subscriber may see. The users of `names` are in memory.
   */
  present?(event: AppEvent<Body>, context: PresentationContext): Record<string, unknown> | null
  /** The schema of what `present` returns, in its JSON form. */
  schema?: z.ZodObject
  /** The schema of what webhooks get, where it is not that of `schema`: of an event with a trigger that clients do not get. */
  payload?: z.ZodObject
  /** More specific names for clients of the hub: all of them, and the name of one event. */
  hub?: { names: readonly string[]; nameOf(event: AppEvent<Body>): string }
  /**
   * Replaces `present` for clients of the hub while the result depends on the user: these clients show what an event
   * contains, and do not fetch it again as native clients do. One frame is encoded for each user, so this is for rare
   * events.
   */
  perUser?: {
    /** Ids of the users whose names `present` shows to any user; empty while `present` is the same for all. */
    names(state: AppState): number[]
    present(state: AppState, user: number, context: PresentationContext): Record<string, unknown>
  }
  /** False where realtime clients do not get the event in the app's present state. Default: they get it. */
  isBroadcast?(state: AppState): boolean
  /** As `present`, for webhook receivers: text and names of content are redacted. Default: `present`. */
  redact?(event: AppEvent<Body>, context: PresentationContext): Record<string, unknown> | null
  /** The body that queued deliveries store, with all that `redact` needs. Default: without text, html and plain. */
  forQueue?(body: Body): unknown
}

/** Makes an `EventType.load` of a query by row ids, for entities whose ids are row ids. */
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

/** The row of the event log. */
export function toEventRow({
  app_id,
  rev,
  prev,
  type,
  actor_id,
  kind,
  entity_id,
  facts,
  created_at,
  key = null,
}: AppEvent): EventRow {
  return { app_id, rev, prev, type, actor_id, entity_type: kind.entity, entity_id, facts, created_at, key }
}

/**
 * The app's row for the presentation of an event, with the API's `rev` as it was after the event: in a replay, and
 * within a commit of several events, the row's may be newer.
 */
export function appAsOf(app: AppRow, { app_rev, rev }: Pick<AppEvent, 'app_rev' | 'rev'>): AppRow {
  const then = app_rev ?? Math.min(app.rev, rev)
  if (app.rev === then) return app
  const copy = copyOf(app)
  copy.rev = then
  return copy
}

/** Stands for an event type of a newer version: such an event moves the app's head rev and has no other effect. */
export const unknownEvent: EventType<unknown> = { type: 'unknown', entity: 'app', isActivity: false }

/** Applies an event to the state of its app. */
export function applyEvent(state: State, event: AppEvent): void {
  state.app = copyOf(state.app)
  event.kind.apply?.(state, event)
  const { app } = state
  app.head_rev = event.rev
  app.head_at = event.created_at
  if (event.kind.isGuard?.(event) !== false) app.guard_rev = event.rev
  if (event.kind.isActivity) app.rev = event.rev
  event.app_rev = app.rev
}
