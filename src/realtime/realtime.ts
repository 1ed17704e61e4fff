import type { TemplatedApp } from 'uWebSockets.js'
import type { Apps } from '../engine/apps.ts'
import type { EventTypes } from '../engine/catch-up.ts'
import type { Moved } from '../engine/nodes/change-broadcast.ts'
import type { AppEvent, Commit } from '../engine/event.ts'
import type { AppState } from '../engine/state.ts'
import type { GlobalCommands } from '../engine/global/global-commands.ts'
import type { SharedLog } from '../log/shared-log.ts'
import type { Credentials } from '../auth/credentials.ts'
import type { UserCache, User } from '../auth/user-cache.ts'
import type { Presence } from '../presence/presence.ts'
import type { Principal } from '../auth/principal.ts'
import type { Typing } from '../engine/typing.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Epoch } from '../log/epoch.ts'
import type { EventRow } from '../log/events.ts'
import type { Sql } from '../postgres/sql.ts'
import { ClientOrigins } from './sessions/client-origins.ts'
import { Admission } from './sessions/admission.ts'
import { UnloadedAppNotifier } from './unloaded-apps/notifier.ts'
import type { AppPolicy } from './app-policy.ts'
import { FanOut } from './fan-out.ts'
import { creationOf, listingsOf } from './listings.ts'
import { History } from './topics/history.ts'
import { Hub } from './protocols/signalr/hub.ts'
import { Online, type FindVisible } from './protocols/signalr/online.ts'
import { SignalRUserStreams } from './protocols/signalr/user-streams.ts'
import { Native } from './protocols/native/native.ts'
import type { FindByUid } from './protocols/native/subscriber.ts'
import { UserTopic } from './user-topic.ts'
import { Sessions } from './sessions/sessions.ts'
import type { RealtimeSettings } from './settings.ts'
import type { Frame } from './protocols/protocol.ts'
import { listSessions, type SessionFilter, type SessionPage } from './sessions/session-list.ts'
import { serve, type RealtimeServer } from './sessions/socket.ts'
import type { Publish } from './topics/app-topic.ts'
import type { TakeSnapshot } from './topics/snapshot.ts'
import { ReplayBuffers } from './topics/replay-buffer.ts'
import { broadcastTyping } from './typing-broadcaster.ts'

export interface RealtimeOptions {
  /** The id of this node. */
  node: string
  /** The history of the database that all events belong to. */
  epoch: Pick<Epoch, 'id' | 'start'>
  sql: Sql
  apps: Apps
  globalCommands: GlobalCommands
  userCache: UserCache
  /** Its caches must have subscribed before, so that rights are checked with current data. */
  sharedLog: SharedLog
  typing: Typing
  presence: Presence
  findVisible: FindVisible
  findByUid: FindByUid
  takeSnapshot: TakeSnapshot
  events: EventTypes
  credentials: Pick<Credentials, 'expiryOf' | 'onRevoked'>
  /**
   * The principal of an access token, synchronously where it is known. 401 and 403, thrown or as a rejection. `address` is
   * the client's.
   */
  authenticate: (token: string, address: string) => Principal | Promise<Principal>
  policy: AppPolicy
  actor: (person: User, origin: string) => object
  /** The origin of absolute URLs in events, or the placeholder for it. */
  origin: () => string
  /** The origin of links for clients that come under too many origins. */
  fallbackOrigin: () => string
  settings: RealtimeSettings
  clock: Clock
  log: Log
}

/**
 * The realtime side of one node. Created after the actors, attached to the HTTP server before it listens. When it is
 * too busy, it refuses new connections and cuts clients that fall behind, which resume by rev. `close` ends all
 * sessions with the advice to reconnect; if the process dies, clients reconnect by themselves, and no event is lost
 * that the log has.
 */
export class Realtime {
  readonly #options: RealtimeOptions
  readonly #sessions: Sessions
  readonly #fanOut: FanOut
  readonly #userTopic: UserTopic
  readonly #userStreams: SignalRUserStreams
  readonly #unloadedApps: UnloadedAppNotifier
  readonly #closed = new AbortController()
  readonly #admission: Admission
  #uws: TemplatedApp | null = null
  readonly #publish: Publish = (topic, bytes, isBinary) => void this.#uws?.publish(topic, bytes, isBinary)

  constructor(options: RealtimeOptions) {
    const { apps, globalCommands, sharedLog, credentials, typing, settings } = options
    const history = new History(options)
    this.#options = options
    this.#sessions = new Sessions({
      ...options,
      clientOrigins: new ClientOrigins(options.fallbackOrigin),
      totalBacklogBytes: settings.totalBacklogBytes,
    })
    this.#admission = new Admission({ ...options, sessions: this.#sessions })
    this.#fanOut = new FanOut({
      ...options,
      history,
      buffers: new ReplayBuffers(settings.replayBufferBytes),
      publish: this.#publish,
      sessionsOf: user => this.#sessions.of(user),
      replayBytes: settings.replayBytes,
    })
    const { unreadDelayMs, unreadPeriodMs } = settings
    this.#userTopic = new UserTopic({ ...options, sessions: this.#sessions, unreadDelayMs, unreadPeriodMs })
    this.#userStreams = new SignalRUserStreams({ ...options, sessions: this.#sessions, history })
    this.#unloadedApps = new UnloadedAppNotifier({
      ...options,
      sessions: this.#sessions,
      hasStream: event => this.#userStreams.hasSubscribers(event),
      notify: (commit, state, shown) => this.#notify(commit, state, shown),
    })
    apps.onCommit((commit, state) => {
      this.#fanOut.onCommit(commit, state)
      const unsent = this.#unloadedApps.takeUnsent(commit.after.id, commit.events)
      if (unsent.length > 0 || commit.events.length === 0) this.#notify(commit, state, unsent)
    })
    globalCommands.onFirstEvent(event => this.#onAppCreated(event))
    sharedLog.listen(event => this.#onSharedEvent(event))
    credentials.onRevoked(isRevoked => this.#sessions.revoke(isRevoked))
    typing.onTyping(broadcastTyping({ ...options, fanOut: this.#fanOut }))
  }

  /** For metrics. `hubSessions` are among the sessions; `users` are those with a session on this node. */
  get figures() {
    return {
      sessions: this.#sessions.size,
      hubSessions: this.#sessions.ofHub,
      users: this.#sessions.users.size,
      topics: this.#fanOut.size,
    }
  }

  /** The sessions of this node that match, newest first, at most `limit`. */
  listSessions(filter: SessionFilter, limit: number): SessionPage {
    return listSessions(this.#sessions, filter, limit)
  }

  /** Sends a frame about an agent at work to the subscribers that ask for these. It has no history. */
  showAgents(app: number, frame: Frame): void {
    this.#fanOut.showAgents(app, frame)
  }

  /** Calls `listener` when the first session here asks to see agents at work in an app, and when the last one has gone. */
  onAgentAudience(listener: (app: number, isThere: boolean) => void): void {
    this.#fanOut.onAgentAudience = listener
  }

  /** The ids of the users with a session on this node. */
  get users(): Iterable<number> {
    return this.#sessions.users.keys()
  }

  /**
   * Sends a frame that concerns this user alone to the user's sessions on this node. `change` is its number among all
   * such changes.
   */
  sendToUser(user: number, frame: Frame, change: number): void {
    this.#userTopic.send(user, frame)
    this.#userStreams.sendToUser(user, frame, change)
  }

  /** Counts all earlier commits as sent. Call once, before `attach`. */
  async start(): Promise<void> {
    await this.#unloadedApps.start()
  }

  /** Handles writes to apps on any node: users on this node may have to be notified of apps that are not in memory. */
  onAppsChanged(changed: readonly Moved[]): void {
    this.#unloadedApps.onChange(changed)
  }

  /**
   * Finds apps whose writes were not announced; call it about once a second. False where a user could not be notified:
   * the next poll tries again.
   */
  poll(): Promise<boolean> {
    return this.#unloadedApps.poll()
  }

  /** Opens /api/realtime and /hubs/rtm on a server that does not listen yet. */
  attach(server: RealtimeServer): void {
    const parts = {
      ...this.#options,
      admission: this.#admission,
      sessions: this.#sessions,
      fanOut: this.#fanOut,
      userStreams: this.#userStreams,
      publish: this.#publish,
      signal: this.#closed.signal,
    }
    const online = new Online(parts)
    for (const endpoint of [new Native({ ...parts, online }), new Hub({ ...parts, online })])
      serve(endpoint, { ...parts, server })
    this.#uws = server.uws
  }

  /** Ends all sessions with the advice to reconnect. The caller closes the server. */
  close(): void {
    this.#closed.abort()
    this.#admission.close()
    this.#userTopic.close()
    this.#sessions.close()
    this.#uws = null
  }

  /** Handles the first event of an app that was created on this node, which is usually still in memory. */
  #onAppCreated(event: AppEvent): void {
    const { app_id: app, rev } = event
    if (this.#sessions.users.size === 0) return void this.#unloadedApps.takeFirst(event)
    const state = this.#options.apps.peek(app)
    // Evicted or advanced since: members who were added later are notified by later events.
    if (state === undefined || state.app.head_rev > rev)
      return this.#unloadedApps.onChange([{ app, rev: state?.app.head_rev ?? rev }])
    if (!this.#unloadedApps.takeFirst(event)) return
    this.#notify(creationOf(state.app, [event]), state, [event])
  }

  /** Sends users what concerns them without a subscription: `shown` are the events among it. */
  #notify(commit: Commit, state: AppState, shown: readonly AppEvent[]): void {
    if (this.#sessions.users.size === 0) return
    const listings = listingsOf(commit, state, { sessions: this.#sessions, policy: this.#options.policy })
    this.#userTopic.onCommit(commit, state, listings)
    this.#userStreams.onCommit(shown, state, listings)
  }

  /** Rights depend on data outside of apps, such as the members of directories. */
  async #onSharedEvent({ type, entity_type, entity_id, facts }: EventRow): Promise<void> {
    if (type === 'everything') return this.#sessions.restart()
    if (type === 'realtime_session_ended') {
      if ((facts as { node: string }).node === this.#options.node) this.#sessions.end(entity_id)
      return
    }
    const named = (facts as { users?: number[] } | null)?.users
    if (entity_type === 'user') await this.#review([entity_id])
    else if (named !== undefined) await this.#review(named)
    else if (entity_type === 'directory') await this.#review([...this.#sessions.users.keys()])
  }

  async #review(users: number[]): Promise<void> {
    const here = users.filter(user => this.#sessions.of(user).size > 0)
    if (here.length === 0) return
    try {
      await this.#options.userCache.load(here)
    } catch (error) {
      // Rights that cannot be checked count as lost; clients may reconnect.
      this.#options.log.warn({ users: here.length, error }, 'Sessions are ended because people cannot be read')
      for (const user of here) for (const session of this.#sessions.of(user)) session.cut()
      return
    }
    for (const user of here) for (const session of this.#sessions.of(user)) this.#fanOut.review(session)
  }
}
