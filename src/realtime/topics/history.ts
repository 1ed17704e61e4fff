import { withBodies, type EventTypes } from '../../engine/catch-up.ts'
import { appAsOf, type AppEvent } from '../../engine/event.ts'
import type { UserCache, User } from '../../auth/user-cache.ts'
import type { AppState } from '../../engine/state.ts'
import type { Log } from '../../lib/log.ts'
import { countEvents, findNewestRev, listEvents } from '../../log/events.ts'
import type { Sql } from '../../postgres/sql.ts'
import { current } from '../protocols/frames.ts'
import { hubName, perUser, type Codec, type Frame } from '../protocols/protocol.ts'
import type { OwnKey } from './replay-buffer.ts'

export interface HistoryParts {
  sql: Sql
  events: EventTypes
  userCache: UserCache
  /** The origin of absolute URLs in events. */
  origin: () => string
  /** The representation of an event's actor. */
  actor: (person: User, origin: string) => object
  log: Log
}

/** Makes the frames of events, from memory and from the log. */
export class History {
  readonly #parts: HistoryParts

  constructor(parts: HistoryParts) {
    this.#parts = parts
  }

  /**
   * Up to `limit` events after `rev`, oldest first, with their current content; all users that they name are in memory.
   */
  async read(app: number, rev: number, limit: number): Promise<AppEvent[]> {
    const { sql, events } = this.#parts
    const rows = await listEvents(sql, app, rev, limit)
    const read = await withBodies(sql, rows, events)
    await Promise.all([this.loadNames(read), this.#setAppRevs(read)])
    return read
  }

  /** True where the log has an event of the app with this rev. */
  async has(app: number, rev: number): Promise<boolean> {
    const [event] = await listEvents(this.#parts.sql, app, rev - 1, 1)
    return event?.rev === rev
  }

  /** The number of events after a rev, up to a limit; null where the log does not reach back to it. */
  async countAfter(app: number, rev: number, limit: number): Promise<number | null> {
    const { count, prev } = await countEvents(this.#parts.sql, app, rev, limit)
    return prev === rev ? count : null
  }

  /** Sets the `rev` of their app for events of one app that follow each other. */
  async #setAppRevs(events: readonly AppEvent[]): Promise<void> {
    const [first] = events
    if (first === undefined) return
    const types = [...this.#parts.events.values()].filter(({ isActivity }) => isActivity).map(({ type }) => type)
    const before = { rev: first.rev, types }
    let rev = first.kind.isActivity ? first.rev : await findNewestRev(this.#parts.sql, first.app_id, before)
    for (const event of events) {
      if (event.kind.isActivity) ({ rev } = event)
      if (rev !== null) event.app_rev = rev
    }
  }

  hasNames(event: AppEvent): boolean {
    for (const id of namesIn(event)) if (this.#parts.userCache.find(id) === undefined) return false
    return true
  }

  async loadNames(events: readonly AppEvent[]): Promise<void> {
    await this.#parts.userCache.load(events.flatMap(namesIn))
  }

  /**
   * The event's frame for all clients of the app; null where it is not sent. `prev` is the rev that was sent before.
   * The users that it names should be in memory.
   */
  toFrame(event: AppEvent, prev: number, state: AppState): Frame | null {
    const { type, rev, app_id } = event
    if (event.kind.isBroadcast?.(state) === false) return null
    const shown = this.#show(event, state)
    if (shown === null) return null
    const name = event.kind.hub?.nameOf(event) ?? type
    const isForEach = (event.kind.perUser?.names(state).length ?? 0) > 0
    return { type: 'event', [hubName]: name, [perUser]: isForEach, event: type, id: rev, app_id, rev, prev, ...shown }
  }

  /** Loads the users that frames for single users name. */
  async loadOwnNames({ kind }: AppEvent, state: AppState): Promise<void> {
    await this.#parts.userCache.load(kind.perUser?.names(state) ?? [])
  }

  /** The event's frame for one user, with the current state. */
  toUserFrame(event: AppEvent, state: AppState, user: number): Frame | null {
    const { userCache, origin } = this.#parts
    const { kind, type, rev, app_id } = event
    const shown = this.#show(event, state)
    const own = kind.perUser?.present(state, user, { app: appAsOf(state.app, event), userCache, origin: origin() })
    return shown && { type: 'event', event: type, id: rev, app_id, ...shown, ...own }
  }

  /** The event's frame under another name, for users whom it concerns without a subscription to the app. */
  toUserStreamFrame(event: AppEvent, state: AppState, name: string): Frame | null {
    const shown = this.#show(event, state)
    return shown && { type: 'personal', event: name, id: event.rev, ...shown }
  }

  /** Encodes an event's frame with a codec; null where its sessions do not get it. */
  encode(codec: Codec, event: AppEvent, frame: Frame): Uint8Array | null {
    try {
      return codec.encode(frame)
    } catch (error) {
      // An event that cannot be encoded must not block later ones, nor other codecs.
      const { app_id, rev, type } = event
      this.#parts.log.error({ app: app_id, rev, type, protocol: codec.protocol, error }, 'An event cannot be written')
      return codec.encode(current(app_id, rev))
    }
  }

  #show(event: AppEvent, state: AppState): Record<string, unknown> | null {
    const { userCache, origin, actor, log } = this.#parts
    const { kind, type, rev, app_id, actor_id, created_at } = event
    if (kind.present === undefined) return null
    let shown: Record<string, unknown> | null = {}
    try {
      shown = kind.present(event, { app: appAsOf(state.app, event), userCache, origin: origin() })
    } catch (error) {
      // An event that cannot be represented must not block later ones.
      log.error({ app: app_id, rev, type, error }, 'An event cannot be shown')
    }
    if (shown === null) return null
    return { actor: actor(userCache.show(actor_id), origin()), created_at, ...shown }
  }
}

/** The event's Idempotency-Key, for the sessions of its actor; null where it has none. API keys have no sessions. */
export function ownKeyOf({ key = null, actor_id: user }: AppEvent): OwnKey | null {
  return key === null || user <= 0 ? null : { user, key }
}

function namesIn(event: AppEvent): number[] {
  return [event.actor_id, ...(event.kind.names?.(event) ?? [])]
}
