import type { Apps } from '../../engine/apps.ts'
import { withBodies, type EventTypes } from '../../engine/catch-up.ts'
import { revertEvent, type AppEvent, type Commit } from '../../engine/event.ts'
import { Recent } from '../../engine/recent.ts'
import { AppState, type AppRow, type MemberRow } from '../../engine/state.ts'
import type { Log } from '../../lib/log.ts'
import type { EventRow } from '../../log/events.ts'
import type { Sql } from '../../postgres/sql.ts'
import type { SignalRUserStreams } from '../protocols/signalr/user-streams.ts'
import type { UserTopic } from '../user-topic.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { ChangedAppsPoller } from './changed-apps-poller.ts'
import * as store from './store.ts'

export interface UnloadedAppNotifierParts {
  sql: Sql
  apps: Pick<Apps, 'peek' | 'follows'>
  events: EventTypes
  sessions: Sessions
  userTopic: UserTopic
  userStreams: SignalRUserStreams
  log: Log
}

/** Apps that are looked up at once. A guess: a few hundred kilobytes of rows. */
const appsAtOnce = 200

/** Events of one app that are read at once. A guess. */
const pageSize = 200

/**
 * Notifies connected users of what concerns them in apps that this node does not hold in memory, as no session here is
 * subscribed to them: what `UserTopic` and `SignalRUserStreams` send of apps that it holds. It loads none of these apps.
 * Of those that were written to, it reads the new events and the relations of the connected users.
 *
 * Woken by the bus (`onChange`), and by `poll` about once a second, which finds what the bus has lost. Each event is
 * sent once, in the order of its app, also while the app comes into memory or leaves it. If a query fails nothing is
 * lost: the next poll finds it again.
 */
export class UnloadedAppNotifier {
  readonly #parts: UnloadedAppNotifierParts
  readonly #poller: ChangedAppsPoller
  readonly #waiting = new Set<number>()
  /** App → the newest rev that was sent here, from memory too; as far back as polls go. */
  readonly #sent = new Map<number, number>()
  #running: Promise<void> | null = null
  #hasFailed = false

  constructor(parts: UnloadedAppNotifierParts) {
    this.#parts = parts
    this.#poller = new ChangedAppsPoller(parts.sql, () => performance.now())
  }

  /** Everything so far counts as sent. Call once, before there can be sessions. */
  async start(): Promise<void> {
    await this.#poller.poll()
  }

  /**
   * Takes events that are about to be sent from memory; returns those that are to be sent now, without what was sent here
   * while the app was being loaded. Where something before them is missing, all wait for it, and are read with it.
   */
  takeUnsent(app: number, events: readonly AppEvent[]): readonly AppEvent[] {
    const [first, last] = [events[0], events.at(-1)]
    if (first === undefined || last === undefined) return events
    const hasUsers = this.#parts.sessions.users.size > 0
    if (hasUsers && first.prev > this.#startOf(app)) {
      this.onChange([{ app, rev: last.rev }])
      return []
    }
    const told = this.#sent.get(app) ?? 0
    this.#markSent(app, last.rev)
    return events.filter(({ rev }) => rev > told)
  }

  /** Takes the first event of an app that was made here; false where it has been sent. */
  takeFirst({ app_id, rev }: AppEvent): boolean {
    if (rev <= this.#startOf(app_id)) return false
    this.#markSent(app_id, rev)
    return true
  }

  /** These apps were brought to these revs, by some node. Never rejects. */
  onChange(moved: Iterable<{ app: number; rev: number }>): void {
    if (this.#parts.sessions.users.size === 0) return
    for (const { app, rev } of moved) if (this.#isBehind(app, rev)) this.#waiting.add(app)
    this.#running ??= this.#run().finally(() => {
      this.#running = null
    })
  }

  /** Finds what did not reach this node over the bus. False where it could not be sent: the next poll tries again. */
  async poll(): Promise<boolean> {
    const moved = await this.#poller.poll()
    this.#hasFailed = false
    this.onChange(moved.map(({ app_id, rev }) => ({ app: app_id, rev })))
    await this.#running
    if (this.#hasFailed) return false
    this.#poller.acknowledge()
    for (const [app, rev] of this.#sent) if (rev <= this.#poller.from) this.#sent.delete(app)
    return true
  }

  /** Everything up to this rev counts as sent. */
  #markSent(app: number, rev: number): void {
    if (rev > (this.#sent.get(app) ?? 0)) this.#sent.set(app, rev)
  }

  /** What follows this rev was not sent yet. */
  #startOf(app: number): number {
    return Math.max(this.#poller.from, this.#sent.get(app) ?? 0)
  }

  /** False where all up to the rev was sent, and where memory follows the app and has nothing new: then it will be sent. */
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
    const concerned = await store.listConcerned(sql, apps, users, this.#poller.from)
    const isConcerned = new Set(concerned)
    // The other apps concern no connected user: what follows need not wait for them.
    for (const [app, head] of heads) if (!isConcerned.has(app)) this.#markSent(app, head)
    if (concerned.length === 0) return
    const starts = concerned.map(app => ({ app, rev: this.#startOf(app) }))
    // Before the rows: where these are ahead of the events, the difference is sent with the next ones.
    const events = Map.groupBy(await store.listEventsOf(sql, starts, pageSize), ({ app_id }) => app_id)
    const rows = await store.listApps(sql, [...events.keys()])
    const relations = Map.groupBy(await store.listRelations(sql, [...events.keys()], users), ({ app_id }) => app_id)
    for (const row of rows) {
      const found = events.get(row.id)!
      if (found.length === pageSize) this.#waiting.add(row.id)
      await this.#notify(row, relations.get(row.id) ?? [], found)
    }
  }

  async #notify(row: AppRow, relations: MemberRow[], found: EventRow[]): Promise<void> {
    const { sql, events: kinds, userTopic, userStreams } = this.#parts
    const known = found.filter(({ type }) => kinds.has(type))
    const wanted = known.filter(({ type }) => userStreams.isWanted(type))
    // Before anything counts as sent: if this fails, the next poll finds all of it again.
    const shown = await withBodies(sql, wanted, kinds)
    const start = this.#startOf(row.id)
    const isNew = ({ rev }: { rev: number }) => rev > start
    this.#markSent(row.id, found.at(-1)!.rev)
    const rows = known.filter(isNew)
    if (rows.length === 0) return
    const commit = toCommit(
      row,
      relations,
      rows.map(event => ({ ...event, kind: kinds.get(event.type)!, body: null })),
    )
    userTopic.onCommit(commit)
    userStreams.onCommit(commit, shown.filter(isNew))
  }
}

/** The commit of these events to an app, as far as some of its members show it. */
function toCommit(row: AppRow, relations: MemberRow[], events: AppEvent[]): Commit {
  const earlier = toState(row, relations)
  for (const event of events.toReversed()) revertEvent(earlier, event)
  const reverted = earlier.takeChanges().members.keys()
  const members = new Map(Array.from(reverted, user => [user, earlier.member(user)]))
  return { state: toState(row, relations), before: earlier.app, events, members }
}

function toState(row: AppRow, relations: MemberRow[]): AppState {
  return new AppState(row, relations, new Recent([], false))
}
