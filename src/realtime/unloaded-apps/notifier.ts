import type { Apps } from '../../engine/apps.ts'
import { withBodies, type EventTypes } from '../../engine/catch-up.ts'
import type { AppEvent, Commit } from '../../engine/event.ts'
import { Recent } from '../../engine/recent.ts'
import { Draft } from '../../engine/draft.ts'
import { AppState, type AppRow, type MemberRow } from '../../engine/state.ts'
import { findApps } from '../../engine/store.ts'
import type { Log } from '../../lib/log.ts'
import { listEventsOf, type EventRow } from '../../log/events.ts'
import { Watermark } from '../../log/watermark.ts'
import type { Sql } from '../../postgres/sql.ts'
import type { Sessions } from '../sessions/sessions.ts'
import * as store from './store.ts'

export interface UnloadedAppNotifierParts {
  sql: Sql
  apps: Pick<Apps, 'peek' | 'follows'>
  events: EventTypes
  sessions: Sessions
  /** True where a session is subscribed to this type of event of all apps. */
  hasStream(event: string): boolean
  /** Sends users what a commit means to them. `state` has the relations of connected users; `shown` are events with bodies. */
  notify(commit: Commit, state: AppState, shown: readonly AppEvent[]): void
  log: Log
}

/** The most apps that are looked up at once. A guess: a few hundred kilobytes of rows. */
const appsAtOnce = 200

/** The most events of one app that are read at once. A guess. */
const pageSize = 200

/**
 * Notifies connected users of events in apps that this node does not hold in memory, because no session on it is
 * subscribed to them: the counterpart of `UserTopic` and `SignalRUserStreams` for loaded apps. It loads none of these
 * apps; it reads the new events of apps that were written to, and the connected users' relations to them.
 *
 * Woken by the bus (`onChange`), and about once a second by `poll`, which finds what the bus has lost. Each event is
 * sent once, in its app's order, also while the app is being loaded or evicted. After a failed query nothing is lost:
 * the next poll finds it again.
 */
export class UnloadedAppNotifier {
  readonly #parts: UnloadedAppNotifierParts
  /** Where the next poll begins. */
  readonly #watermark: Watermark
  readonly #waiting = new Set<number>()
  /** App → the newest rev that was sent here, by either way; kept as far back as polls reach. */
  readonly #sent = new Map<number, number>()
  #running: Promise<void> | null = null
  #hasFailed = false

  constructor(parts: UnloadedAppNotifierParts) {
    this.#parts = parts
    this.#watermark = new Watermark(parts.sql, () => performance.now())
  }

  /** Counts all earlier commits as sent. Call once, before there can be sessions. */
  async start(): Promise<void> {
    await this.#watermark.advance()
  }

  /**
   * Filters events of a loaded app that are about to be sent. Returns the events to send now, without any that were
   * sent while the app was being loaded. Returns none where earlier events are missing: all are then read together.
   */
  takeUnsent(app: number, events: readonly AppEvent[]): readonly AppEvent[] {
    const [first, last] = [events[0], events.at(-1)]
    if (first === undefined || last === undefined) return events
    const hasUsers = this.#parts.sessions.users.size > 0
    if (hasUsers && first.prev > this.#startOf(app)) {
      this.onChange([{ app, rev: last.rev }])
      return []
    }
    const sentRev = this.#sent.get(app) ?? 0
    this.#markSent(app, last.rev)
    return events.filter(({ rev }) => rev > sentRev)
  }

  /** Takes the first event of an app that was created here; false where it has been sent. */
  takeFirst({ app_id, rev }: AppEvent): boolean {
    if (rev <= this.#startOf(app_id)) return false
    this.#markSent(app_id, rev)
    return true
  }

  /** Handles notices that apps have reached new revs, on any node. Never rejects. */
  onChange(changed: Iterable<{ app: number; rev: number }>): void {
    if (this.#parts.sessions.users.size === 0) return
    for (const { app, rev } of changed) if (this.#isBehind(app, rev)) this.#waiting.add(app)
    this.#running ??= this.#run().finally(() => {
      this.#running = null
    })
  }

  /**
   * Finds writes of which the bus has brought no notice. False where a user could not be notified: the next poll tries
   * again.
   */
  async poll(): Promise<boolean> {
    const newest = await this.#watermark.advance()
    const { from } = this.#watermark
    // Who comes later has no claim to what was committed before: the watermark passes nothing newer.
    const isNeeded = newest !== from && this.#parts.sessions.users.size > 0
    const changed = isNeeded ? await store.listChangedApps(this.#parts.sql, from) : []
    this.#hasFailed = false
    this.onChange(changed)
    await this.#running
    if (this.#hasFailed) return false
    this.#watermark.confirm()
    for (const [app, rev] of this.#sent) if (rev <= this.#watermark.from) this.#sent.delete(app)
    return true
  }

  /** Counts every event up to this rev as sent. */
  #markSent(app: number, rev: number): void {
    if (rev > (this.#sent.get(app) ?? 0)) this.#sent.set(app, rev)
  }

  /** The rev after which events have not been sent yet. */
  #startOf(app: number): number {
    return Math.max(this.#watermark.from, this.#sent.get(app) ?? 0)
  }

  /** False where every event up to the rev was sent, or the loaded app will send it. */
  #isBehind(app: number, rev: number): boolean {
    const { apps } = this.#parts
    if (rev <= this.#startOf(app)) return false
    return !apps.follows(app) || apps.peek(app)!.app.head_rev > this.#startOf(app)
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.size > 0) {
        const apps = [...this.#waiting].slice(0, appsAtOnce)
        for (const app of apps) this.#waiting.delete(app)
        await this.#read(apps)
      }
    } catch (error) {
      this.#hasFailed = true
      this.#parts.log.warn(
        { error },
        'Users could not be notified of apps that are not in memory; the next poll tries again',
      )
    }
  }

  async #read(apps: number[]): Promise<void> {
    const { sql, sessions } = this.#parts
    const users = [...sessions.users.keys()]
    const heads = apps.map(app => [app, this.#parts.apps.peek(app)?.app.head_rev ?? 0] as const)
    const concerned = await store.listConcerned(sql, apps, users, this.#watermark.from)
    const isConcerned = new Set(concerned)
    // The other apps concern no connected user, so their events need not be read.
    for (const [app, head] of heads) if (!isConcerned.has(app)) this.#markSent(app, head)
    if (concerned.length === 0) return
    const starts = concerned.map(app => ({ app, rev: this.#startOf(app), limit: pageSize }))
    // Read before the rows: where these are ahead of the events, the difference is sent with the next ones.
    const read = await listEventsOf(sql, starts, { isRecent: true })
    const events = Map.groupBy(read, ({ app_id }) => app_id)
    const rows = await findApps(sql, [...events.keys()])
    const relations = Map.groupBy(await store.listRelations(sql, [...events.keys()], users), ({ app_id }) => app_id)
    for (const row of rows.values()) {
      const found = events.get(row.id)!
      if (found.length === pageSize) this.#waiting.add(row.id)
      await this.#notify(row, relations.get(row.id) ?? [], found)
    }
  }

  async #notify(row: AppRow, relations: MemberRow[], found: EventRow[]): Promise<void> {
    const { sql, events: kinds, hasStream, notify } = this.#parts
    const known = found.filter(({ type }) => kinds.has(type))
    const wanted = known.filter(({ type }) => hasStream(type))
    // Before anything counts as sent: after a failure here, the next poll finds all of it again.
    const shown = await withBodies(sql, wanted, kinds)
    const start = this.#startOf(row.id)
    const isNew = ({ rev }: { rev: number }) => rev > start
    this.#markSent(row.id, found.at(-1)!.rev)
    const rows = known.filter(isNew)
    if (rows.length === 0) return
    const state = new AppState(row, relations, new Recent([], false))
    const written = rows.map(event => ({ ...event, kind: kinds.get(event.type)!, body: null }))
    notify(toCommit(state, written), state, shown.filter(isNew))
  }
}

/** The commit of events that has led to a state, as far as they show what was before. */
function toCommit(state: AppState, events: AppEvent[]): Commit {
  const earlier = new Draft(state)
  for (const event of events.toReversed()) event.kind.revert?.(earlier, event)
  const members = Array.from(earlier.changed, ([user, row]) => {
    return [user, { before: row ?? undefined, after: state.member(user) }] as const
  })
  return { before: earlier.app, after: state.app, events, members: new Map(members) }
}
