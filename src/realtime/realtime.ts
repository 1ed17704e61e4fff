import type { TemplatedApp } from 'uWebSockets.js'
import type { Apps } from '../actors/apps.ts'
import type { EventTypes } from '../actors/catch-up.ts'
import type { Moved } from '../actors/change-broadcast.ts'
import type { AppEvent } from '../actors/event.ts'
import type { Direct } from '../actors/direct.ts'
import type { Environment } from '../actors/environment.ts'
import type { People, Person } from '../actors/people.ts'
import type { Presence } from '../actors/presence.ts'
import type { Principal } from '../actors/principal.ts'
import type { Typing } from '../actors/typing.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { EventRow } from '../storage/events.ts'
import type { Sql } from '../storage/sql.ts'
import { Addresses, type AddressesParts } from './addresses.ts'
import { Admission } from './admission.ts'
import { Distant } from './distant/distant.ts'
import { FanOut, type CanRead, type HiddenUntil } from './fan-out.ts'
import { History } from './channels/history.ts'
import { hubDoor } from './hub/door.ts'
import { Hub } from './hub/hub.ts'
import { Online, type LookAround } from './hub/online.ts'
import { Streams } from './hub/streams.ts'
import { nativeDoor } from './native-door.ts'
import { Native } from './native.ts'
import { Personal, type PersonalParts } from './personal.ts'
import { Sessions } from './sessions.ts'
import type { RealtimeSettings } from './settings.ts'
import type { Frame } from './protocol.ts'
import { listSessions, type SessionFilter, type SessionPage } from './session-list.ts'
import { serve, type Refuse, type SocketParts } from './socket.ts'
import { Tails } from './channels/tail.ts'
import { Typists } from './typists.ts'

/** Where sessions learn who somebody is, and that it is over. */
export interface SessionCredentials {
  /** When a principal's credential ends, in milliseconds; 0 where it has ended. */
  expiryOf(principal: Principal): number
  onRevoked(listener: (isRevoked: (principal: Principal) => boolean) => void): void
}

export interface RealtimeOptions extends Pick<PersonalParts, 'isListed' | 'isUnread' | 'isRemovable'> {
  /** The id of this node among all. */
  node: string
  sql: Sql
  apps: Apps
  direct: Direct
  people: People
  /** Its caches listen before this, so that rights are looked at with what they know now. */
  environment: Environment
  typing: Typing
  presence: Presence
  lookAround: LookAround
  events: EventTypes
  credentials: SessionCredentials
  /** The principal of an access token, at once where it is known. Refuses with 401 and 403, thrown or rejected. */
  authenticate: (token: string) => Principal | Promise<Principal>
  canRead: CanRead
  hiddenUntil: HiddenUntil
  actor: (person: Person, origin: string) => object
  refuse: Refuse
  /** Scheme and host for the absolute URLs in events, or what stands for them until these are encoded. */
  origin: () => string
  addresses: AddressesParts
  ipOf: SocketParts['ipOf']
  settings: RealtimeSettings
  /** Told when the first one here wants to see agents at work in an app, and when nobody does any more. */
  agentAudience?: (app: number, isThere: boolean) => void
  clock: Clock
  log: Log
}

/** What a node does in realtime, for its metrics. */
export interface RealtimeFigures {
  sessions: number
  /** Of these, those of clients of the hub. */
  hubSessions: number
  /** Users with a session on this node. */
  users: number
  channels: number
  tailBytes: number
}

/**
 * The realtime side of one node. Made after the actors, attached to the edge before it listens. When it is too busy it
 * refuses new connections, and cuts those who do not keep up: they resume by rev. `close` ends all sessions with the
 * hint to reconnect; if the process dies, clients do so by themselves, and nothing is lost that the log has.
 */
export class Realtime {
  readonly #options: RealtimeOptions
  readonly #addresses: Addresses
  readonly #sessions: Sessions
  readonly #fanOut: FanOut
  readonly #personal: Personal
  readonly #streams: Streams
  readonly #distant: Distant
  readonly #closed = new AbortController()
  readonly #tails: Tails
  readonly #admission: Admission
  #server: TemplatedApp | null = null

  constructor(options: RealtimeOptions) {
    const { apps, direct, environment, credentials, typing, settings } = options
    const history = new History(options)
    this.#options = options
    this.#tails = new Tails(settings.tailBytes)
    this.#addresses = new Addresses(options.addresses)
    this.#sessions = new Sessions({
      ...options,
      addresses: this.#addresses,
      totalBacklogBytes: settings.totalBacklogBytes,
    })
    this.#admission = new Admission({
      authenticate: options.authenticate,
      expiryOf: principal => credentials.expiryOf(principal),
      sessions: this.#sessions,
      limits: settings,
      now: () => options.clock.now(),
    })
    this.#fanOut = new FanOut({
      ...options,
      history,
      tails: this.#tails,
      publish: (topic, bytes, isBinary) => this.#publish(topic, bytes, isBinary),
      replayBytes: settings.replayBytes,
    })
    this.#personal = new Personal({ ...options, sessions: this.#sessions, unreadDelayMs: settings.unreadDelayMs })
    this.#streams = new Streams({ ...options, sessions: this.#sessions, history })
    this.#distant = new Distant({
      ...options,
      sessions: this.#sessions,
      personal: this.#personal,
      streams: this.#streams,
    })
    const typists = new Typists({ ...options, fanOut: this.#fanOut })
    apps.listen((state, events) => {
      this.#fanOut.hear(state, events)
      const news = this.#distant.pass(state.app.id, events)
      if (news.length > 0 || events.length === 0) this.#personal.hear(state)
      this.#streams.hear(state, news)
    })
    direct.listen(event => this.#hearFirst(event))
    environment.listen(event => this.#hear(event))
    credentials.onRevoked(isRevoked => this.#sessions.revoke(isRevoked))
    typing.listen((app, user, isTyping) => typists.hear(app, user, isTyping))
  }

  get figures(): RealtimeFigures {
    return {
      sessions: this.#sessions.size,
      hubSessions: this.#sessions.ofHub,
      users: this.#sessions.users.size,
      channels: this.#fanOut.size,
      tailBytes: this.#tails.bytes,
    }
  }

  /** The sessions of this node that match, newest first, at most so many. */
  listSessions(filter: SessionFilter, limit: number): SessionPage {
    return listSessions(this.#sessions, filter, limit)
  }

  /** True where somebody here wants to see agents at work in the app. */
  seesAgents(app: number): boolean {
    return this.#fanOut.seesAgents(app)
  }

  /** Shows them what an agent does: it has no history. */
  showAgents(app: number, frame: Frame): void {
    this.#fanOut.showAgents(app, frame)
  }

  /** Ids of the users with a session on this node. */
  get users(): Iterable<number> {
    return this.#sessions.users.keys()
  }

  /** Tells a user's sessions on this node what concerns this user alone. `change` numbers it among all such changes. */
  tell(user: number, frame: Frame, change: number): void {
    this.#personal.tell(user, frame)
    this.#streams.tellOwn(user, frame, change)
  }

  /** Takes everything that was committed so far as told. Call once, before `attach`. */
  async start(): Promise<void> {
    await this.#distant.start()
  }

  /** Apps that were written to, on any node: people here may have to be told of some that are not in memory. */
  hearOf(moved: readonly Moved[]): void {
    this.#distant.hear(moved)
  }

  /**
   * The same for what nobody has told of; within two seconds if it is called once a second. False where somebody could not
   * be told, and the next look has to try again.
   */
  look(): Promise<boolean> {
    return this.#distant.look()
  }

  /** Opens /api/realtime and /hubs/rtm on a server that does not listen yet. */
  attach(server: TemplatedApp): void {
    const { settings, ipOf, refuse, clock, log } = this.#options
    const { signal } = this.#closed
    const streams = this.#streams
    const sessions = this.#sessions
    const fanOut = this.#fanOut
    const admission = this.#admission
    const addresses = this.#addresses
    const now = () => clock.now()
    const native = new Native({ admission, sessions, fanOut, settings, now, log })
    const online = new Online({ ...this.#options, streams, signal })
    const publish = (topic: string, bytes: Uint8Array, isBinary: boolean) => this.#publish(topic, bytes, isBinary)
    const hub = new Hub({ ...this.#options, admission, sessions, fanOut, streams, online, publish, signal })
    for (const door of [nativeDoor(native), hubDoor(hub)]) {
      serve(server, door, { addresses, ipOf, sessions, fanOut, admission, settings, refuse, now })
    }
    this.#server = server
  }

  /** Ends all sessions with the hint to reconnect. The server itself is closed by whoever made it. */
  close(): void {
    this.#closed.abort()
    this.#admission.close()
    this.#personal.close()
    this.#sessions.close()
    this.#server = null
  }

  #publish(topic: string, bytes: Uint8Array, isBinary: boolean): void {
    this.#server?.publish(topic, bytes, isBinary)
  }

  /** The first event of an app that was made on this node. Where the app cannot be read now, the next look tells of it. */
  #hearFirst(event: AppEvent): void {
    const { apps, log } = this.#options
    if (this.#sessions.users.size === 0) return void this.#distant.passFirst(event)
    Promise.resolve(apps.state(event.app_id))
      .then(state => {
        // Who has come in since is told with what has happened since.
        if (state.app.head_rev > event.rev) return this.#distant.hear([{ app: event.app_id, rev: state.app.head_rev }])
        if (!this.#distant.passFirst(event)) return
        this.#personal.hearFirst(state)
        this.#streams.hear(state, [event])
      })
      .catch((error: unknown) =>
        log.warn({ app: event.app_id, error }, 'A new app cannot be read; it is told of later'),
      )
  }

  /** Rights may hang on what belongs to no app: who is in which directory. */
  async #hear({ type, entity_type, entity_id, facts }: EventRow): Promise<void> {
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
      await this.#options.people.load(here)
    } catch (error) {
      // Their rights cannot be looked at; they may come back when that is possible.
      this.#options.log.warn({ users: here.length, error }, 'Sessions are ended because people cannot be read')
      for (const user of here) for (const session of this.#sessions.of(user)) session.cut()
      return
    }
    for (const user of here) for (const session of this.#sessions.of(user)) this.#fanOut.review(session)
  }
}
