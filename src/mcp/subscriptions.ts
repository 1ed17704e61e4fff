import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import type { Credentials } from '../auth/credentials.ts'
import type { Principal } from '../auth/principal.ts'
import type { UserCache } from '../auth/user-cache.ts'
import type { Apps } from '../engine/apps.ts'
import type { Commit } from '../engine/event.ts'
import type { Clock } from '../lib/clock.ts'
import { problem } from '../lib/errors.ts'
import { canRead } from '../resources/apps/members/access.ts'
import type { ClientCall } from './client-call.ts'

/** The most streams of one user on a node, and resources of one stream. Guesses. */
const streamsOfUser = 20
const resourcesOfStream = 100

export const TooManyStreams = problem(429, 'too-many-streams', 'You have too many streams of events.', {
  retry_after: 60,
})

/** Changes that follow each other as fast are told once. */
const gatherMs = 200

/** Events that no other client sees: of a user's own read marker, and of settings. */
const silent = new Set(['app_marked', 'settings_changed'])

/** The longest delay of a timer. */
const longestMs = 2 ** 31 - 1

interface SubscriptionsOptions {
  apps: Apps
  userCache: UserCache
  credentials: Credentials
  clock: Clock
}

/** A stream of one client. */
interface Stream {
  by: Principal
  end: AbortController
  /** App → its resources, as the client names them. */
  resources: Map<number, string[]>
  tell: (event: ServerEvent) => void
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

  constructor(options: SubscriptionsOptions) {
    this.#options = options
    options.apps.onCommit(commit => this.#note(commit))
    options.credentials.onRevoked(isRevoked => {
      for (const stream of this.#all()) if (isRevoked(stream.by)) stream.end.abort()
    })
  }

  /** The number of open streams. */
  get size(): number {
    return this.#all().length
  }

  /** Resources of `uris` that the caller may not read are passed over. 429 for too many streams. */
  async open(call: ClientCall, uris: readonly string[]): Promise<OpenStream> {
    const { apps, credentials, clock } = this.#options
    const { by } = call
    const own = this.#streams.get(by.user) ?? new Set()
    if (own.size >= streamsOfUser) throw TooManyStreams()
    const stream: Stream = { by, end: new AbortController(), resources: new Map(), tell: () => {} }
    this.#streams.set(by.user, own.add(stream))
    const { signal } = stream.end
    const leftMs = credentials.expiryOf(by) - clock.now()
    const cancel = leftMs > longestMs ? () => {} : clock.after(Math.max(0, leftMs), () => stream.end.abort())
    const unpins: (() => void)[] = []
    signal.addEventListener('abort', () => {
      cancel()
      this.#forget(stream)
      for (const unpin of unpins) unpin()
    })
    for (const uri of uris.slice(0, resourcesOfStream)) {
      const app = await toApp(uri, call)
      if (app === null || signal.aborted) continue
      if (!stream.resources.has(app)) unpins.push(await apps.pin(app))
      stream.resources.set(app, [...(stream.resources.get(app) ?? []), uri])
      this.#watched.set(app, (this.#watched.get(app) ?? new Set()).add(stream))
    }
    const subscribe = (listener: Stream['tell']) => {
      stream.tell = listener
      return () => stream.end.abort()
    }
    return { bus: { publish() {}, subscribe }, signal, end: () => stream.end.abort() }
  }

  /** Ends all streams. */
  close(): void {
    for (const stream of this.#all()) stream.end.abort()
  }

  #all(): Stream[] {
    return [...this.#streams.values()].flatMap(streams => [...streams])
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
    const due = this.#due.get(stream) ?? []
    this.#due.delete(stream)
    for (const app of due) {
      const state = apps.peek(app)
      if (state === undefined || !canRead(state, stream.by.user, userCache) || state.app.metadata?.mcp === false)
        continue
      for (const uri of stream.resources.get(app) ?? []) stream.tell({ kind: 'resource_updated', uri })
    }
  }

  #forget(stream: Stream): void {
    const own = this.#streams.get(stream.by.user)
    own?.delete(stream)
    if (own?.size === 0) this.#streams.delete(stream.by.user)
    for (const app of stream.resources.keys()) {
      const streams = this.#watched.get(app)
      streams?.delete(stream)
      if (streams?.size === 0) this.#watched.delete(app)
    }
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
