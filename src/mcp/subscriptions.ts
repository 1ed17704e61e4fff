import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import type { Credentials } from '../auth/credentials.ts'
import type { Principal } from '../auth/principal.ts'
import type { UserCache } from '../auth/user-cache.ts'
import type { Apps } from '../engine/apps.ts'
import type { Commit } from '../engine/event.ts'
import { everyWhile, type Clock } from '../lib/clock.ts'
import { NotFound, problem } from '../lib/errors.ts'
import type { Sql } from '../postgres/sql.ts'
import { canRead } from '../resources/apps/members/access.ts'
import type { ClientCall } from './client-call.ts'
import { addResource, listResources, removeResource, removeSession, resourcesOfSession } from './store.ts'

/** The most streams of one user on a node. A guess. */
const streamsOfUser = 20

export const TooManyStreams = problem(429, 'too-many-streams', 'You have too many streams of events.', {
  retry_after: 60,
})

/** Changes that follow each other as fast are told once. */
const gatherMs = 200

/** Events that no other client sees: of a user's own read marker, and of settings. */
const silent = new Set(['app_marked', 'settings_changed'])

/** How often it is looked for what sessions listen to that have said so to another node. */
const lookMs = 1_000

/** The longest delay of a timer. */
const longestMs = 2 ** 31 - 1

interface SubscriptionsOptions {
  sql: Sql
  apps: Apps
  userCache: UserCache
  credentials: Credentials
  clock: Clock
}

/** A stream of one client. */
interface Stream {
  call: ClientCall
  /** Its session, of the revisions of 2025; null where the client says with the stream what it listens to. */
  session: string | null
  end: AbortController
  /** The resources, as the client names them → the app; null for one that the user may not read. */
  resources: Map<string, number | null>
  /** App → lets it be evicted again. */
  pins: Map<number, () => void>
  tell: (uri: string) => void
}

/** Where a stream gets its events from, and how it ends: by either side. */
export interface OpenStream {
  bus: ServerEventBus
  signal: AbortSignal
  end: () => void
}

/**
 * Tells streams of clients that apps have changed, by the commits of all nodes. A stream is ended when its token expires or
 * is revoked, and at the end of the node; clients open it again. What is told is the resource and never what changed, and
 * only while the user may read the app.
 */
export class Subscriptions {
  readonly #options: SubscriptionsOptions
  readonly #streams = new Map<number, Set<Stream>>()
  /** Apps with streams. */
  readonly #watched = new Map<number, Set<Stream>>()
  readonly #due = new Map<Stream, Set<number>>()
  readonly #closed = new AbortController()
  readonly #beginLooks: () => void

  constructor(options: SubscriptionsOptions) {
    this.#options = options
    options.apps.onCommit(commit => this.#note(commit))
    options.credentials.onRevoked(isRevoked => {
      for (const stream of this.#all()) if (isRevoked(stream.call.by)) stream.end.abort()
    })
    this.#beginLooks = everyWhile(options.clock, lookMs, this.#closed.signal, () => this.#look())
  }

  /** The number of open streams. */
  get size(): number {
    return this.#all().length
  }

  /** 429 where the user has too many streams. */
  requireRoom({ user }: Principal): void {
    if ((this.#streams.get(user)?.size ?? 0) >= streamsOfUser) throw TooManyStreams()
  }

  /** Resources of `uris` that the caller may not read are passed over. 429 for too many streams. */
  async open(call: ClientCall, uris: readonly string[]): Promise<OpenStream> {
    const stream = this.#begin(call, null)
    await this.#listen(stream, uris)
    return this.#toOpen(stream)
  }

  /**
   * The stream of a session, of what it has said before and says from now on, to any node. All of it is told at first: it may
   * have changed while no stream was open. 429 for too many streams.
   */
  openSession(call: ClientCall, session: string, tell: (uri: string) => void): Omit<OpenStream, 'bus'> {
    const stream = this.#begin(call, session)
    stream.tell = tell
    this.#beginLooks()
    void this.#look()
    return this.#toOpen(stream)
  }

  /** A session listens to a resource from now on. 404 where the caller may not read it. */
  async subscribe(call: ClientCall, session: string, uri: string): Promise<void> {
    const { sql, clock } = this.#options
    if ((await toApp(uri, call)) === null) throw NotFound()
    await addResource(sql, { user: call.by.user, session }, uri, new Date(clock.now()))
    for (const stream of this.#of(call, session)) await this.#listen(stream, [...stream.resources.keys(), uri])
  }

  async unsubscribe(call: ClientCall, session: string, uri: string): Promise<void> {
    await removeResource(this.#options.sql, { user: call.by.user, session }, uri)
    for (const stream of this.#of(call, session)) this.#drop(stream, uri)
  }

  /** Ends a session and its streams. */
  async endSession(call: ClientCall, session: string): Promise<void> {
    await removeSession(this.#options.sql, { user: call.by.user, session })
    for (const stream of this.#of(call, session)) stream.end.abort()
  }

  /** Ends all streams. */
  close(): void {
    this.#closed.abort()
    for (const stream of this.#all()) stream.end.abort()
  }

  #all(): Stream[] {
    return [...this.#streams.values()].flatMap(streams => [...streams])
  }

  #of({ by }: ClientCall, session: string): Stream[] {
    return [...(this.#streams.get(by.user) ?? [])].filter(stream => stream.session === session)
  }

  #begin(call: ClientCall, session: string | null): Stream {
    const { credentials, clock } = this.#options
    const { by } = call
    this.requireRoom(by)
    const stream = { call, session, end: new AbortController(), resources: new Map(), pins: new Map(), tell: () => {} }
    this.#streams.set(by.user, (this.#streams.get(by.user) ?? new Set()).add(stream))
    const leftMs = credentials.expiryOf(by) - clock.now()
    const cancel = leftMs > longestMs ? () => {} : clock.after(Math.max(0, leftMs), () => stream.end.abort())
    stream.end.signal.addEventListener('abort', () => {
      cancel()
      this.#forget(stream)
    })
    return stream
  }

  #toOpen(stream: Stream): OpenStream {
    const subscribe = (listener: (event: ServerEvent) => void) => {
      stream.tell = uri => listener({ kind: 'resource_updated', uri })
      return () => stream.end.abort()
    }
    return { bus: { publish() {}, subscribe }, signal: stream.end.signal, end: () => stream.end.abort() }
  }

  /** Listens to these resources and no others. */
  async #listen(stream: Stream, uris: readonly string[]): Promise<void> {
    const wanted = new Set(uris.slice(0, resourcesOfSession))
    for (const uri of stream.resources.keys()) if (!wanted.has(uri)) this.#drop(stream, uri)
    for (const uri of wanted) {
      if (stream.resources.has(uri)) continue
      stream.resources.set(uri, null)
      const app = await toApp(uri, stream.call)
      if (app === null) continue
      const unpin = await this.#options.apps.pin(app)
      if (stream.end.signal.aborted || !stream.resources.has(uri) || stream.pins.has(app)) unpin()
      else stream.pins.set(app, unpin)
      if (stream.end.signal.aborted || !stream.resources.has(uri)) continue
      stream.resources.set(uri, app)
      this.#watched.set(app, (this.#watched.get(app) ?? new Set()).add(stream))
    }
  }

  #drop(stream: Stream, uri: string): void {
    const app = stream.resources.get(uri) ?? null
    stream.resources.delete(uri)
    if (app !== null && ![...stream.resources.values()].includes(app)) this.#unwatch(stream, app)
  }

  #unwatch(stream: Stream, app: number): void {
    stream.pins.get(app)?.()
    stream.pins.delete(app)
    const streams = this.#watched.get(app)
    streams?.delete(stream)
    if (streams?.size === 0) this.#watched.delete(app)
  }

  /** Takes over what sessions with streams here have said to other nodes, and tells it: it may have changed meanwhile. */
  async #look(): Promise<boolean> {
    const streams = this.#all().filter(({ session }) => session !== null)
    if (streams.length === 0) return false
    try {
      const sessions = streams.map(({ call, session }) => ({ user: call.by.user, session: session! }))
      for (const { user, session, uris } of await listResources(this.#options.sql, sessions)) {
        for (const stream of this.#streams.get(user) ?? [])
          if (stream.session === session) await this.#takeOver(stream, uris)
      }
    } catch {
      // The next look finds it, once the database can be reached again.
    }
    return true
  }

  async #takeOver(stream: Stream, uris: readonly string[]): Promise<void> {
    const fresh = uris.filter(uri => !stream.resources.has(uri))
    await this.#listen(stream, uris)
    for (const uri of fresh) if (stream.resources.get(uri)) stream.tell(uri)
  }

  #note({ after, events }: Commit): void {
    const streams = this.#watched.get(after.id)
    if (streams === undefined || events.every(({ type }) => silent.has(type))) return
    for (const stream of streams) {
      const due = this.#due.get(stream)
      if (due !== undefined) due.add(after.id)
      else {
        this.#due.set(stream, new Set([after.id]))
        this.#options.clock.after(gatherMs, () => this.#tell(stream))
      }
    }
  }

  #tell(stream: Stream): void {
    const { apps, userCache } = this.#options
    const due = this.#due.get(stream) ?? new Set()
    this.#due.delete(stream)
    for (const [uri, app] of stream.resources) {
      const state = app !== null && due.has(app) ? apps.peek(app) : undefined
      if (state === undefined || !canRead(state, stream.call.by.user, userCache) || state.app.metadata?.mcp === false)
        continue
      stream.tell(uri)
    }
  }

  #forget(stream: Stream): void {
    const { user } = stream.call.by
    const own = this.#streams.get(user)
    own?.delete(stream)
    if (own?.size === 0) this.#streams.delete(user)
    for (const app of [...stream.pins.keys()]) this.#unwatch(stream, app)
    stream.resources.clear()
  }
}

/** The app of `parley://app/garden`; null where the caller may not read it. */
async function toApp(uri: string, call: ClientCall): Promise<number | null> {
  const ref = /^parley:\/\/app\/([^/?#]+)$/.exec(uri)?.[1]
  if (ref === undefined) return null
  try {
    return (await call.app(decodeURIComponent(ref))).id
  } catch {
    return null
  }
}
