import { ParleyError } from '../http/error.ts'
import type { Connection } from '../connection/connection.ts'
import type { Incoming, PersonalFrame, Subscribed } from '../connection/frames.ts'
import { Feed, type FeedHost } from './feed.ts'

/** How many of its newest items an app is shown with. */
export const pageSize = 50

/** Apps of one frame: it may have 64 KiB. */
const appsOfFrame = 400

/** How long after a refusal that may pass an app is asked for again. */
const againMs = 5_000

/** The feeds of all apps of a client, over its one connection. */
export class Feeds implements FeedHost {
  readonly #connection: Connection
  readonly #feeds = new Map<string, Feed>()
  readonly #byId = new Map<number, Set<Feed>>()
  readonly #byRequest = new Map<number, Feed>()
  readonly #personal = new Set<PersonalListener>()
  #asking = new Set<Feed>()
  #requests = 0

  constructor(connection: Connection) {
    this.#connection = connection
    connection.listen({
      opened: () => {
        for (const feed of this.#feeds.values()) if (feed.isHeld) feed.ask()
        for (const { opened } of this.#personal) opened?.()
      },
      lost: () => {
        for (const feed of this.#feeds.values()) if (!this.#endClosed(feed)) feed.lost('offline')
        for (const { lost } of this.#personal) lost?.()
      },
      frame: frame => this.#hear(frame),
    })
  }

  /** The feed of an app, by its id or uid: the same one each time. */
  of(ref: string): Feed {
    const known = this.#feeds.get(ref) ?? this.list().find(({ id, uid }) => String(id) === ref || uid === ref)
    if (known !== undefined) return known
    const feed = new Feed(ref, this)
    this.#feeds.set(ref, feed)
    this.#index(feed)
    return feed
  }

  list(): Feed[] {
    return Array.from(this.#feeds.values())
  }

  /** Hears what concerns the user, in whichever app. It has no history. */
  listen(listener: PersonalListener): () => void {
    this.#personal.add(listener)
    return () => void this.#personal.delete(listener)
  }

  hold(): () => void {
    return this.#connection.hold()
  }

  ask(feed: Feed): void {
    if (this.#endClosed(feed) || !this.#connection.isOpen) return
    // All that are asked for at a time go into one frame.
    if (this.#asking.size === 0) queueMicrotask(() => this.#ask())
    this.#asking.add(feed)
  }

  unsubscribe(feed: Feed): void {
    this.#asking.delete(feed)
    const isShared = this.list().some(one => one !== feed && one.isHeld && one.id === feed.id)
    if (feed.id !== undefined && !isShared) this.#connection.send({ type: 'unsubscribe', app_id: feed.id })
  }

  /** True where the connection is closed for good, and the feed has ended with it. */
  #endClosed(feed: Feed): boolean {
    const { status } = this.#connection
    if (status.state !== 'closed') return false
    if (feed.state !== 'idle') feed.ended('closed', status.error)
    return true
  }

  #ask(): void {
    const feeds = Array.from(this.#asking).filter(({ isHeld }) => isHeld)
    this.#asking = new Set()
    for (let start = 0; start < feeds.length; start += appsOfFrame) {
      const apps = feeds.slice(start, start + appsOfFrame).map(feed => {
        this.#byRequest.delete(feed.request)
        feed.request = ++this.#requests
        this.#byRequest.set(feed.request, feed)
        const { id, ref, rev: after, epoch, request: request_id, hasAgents } = feed
        const app = id === undefined ? { app: ref } : { app_id: id }
        return { ...app, after, epoch, request_id, ...(hasAgents && { agents: true }) }
      })
      this.#connection.send({ type: 'subscribe', snapshot: pageSize, apps })
    }
  }

  #hear(frame: Incoming): void {
    switch (frame.type) {
      case 'event':
        return this.#each(frame.app_id, feed => feed.event(frame))
      case 'subscribed':
        return this.#asked(frame.request_id, feed => {
          // It has ended while it was asked for.
          if (!feed.isHeld) this.#connection.send({ type: 'unsubscribe', app_id: frame.app_id })
          else this.#subscribed(feed, frame)
        })
      case 'current':
        return this.#each(frame.app_id, feed => feed.current(frame.rev))
      case 'reset':
        return this.#each(frame.app_id, feed => feed.isAnswered && feed.restart())
      case 'unsubscribed':
        if (frame.reason !== 'requested') this.#each(frame.app_id, feed => feed.isAnswered && feed.ended(frame.reason))
        return
      case 'typing':
        return this.#each(frame.app_id, ({ views }) => views.forEach(view => view.typing?.(frame)))
      case 'agent_run':
        return this.#each(frame.app_id, ({ views }) => views.forEach(view => view.run?.(frame.run)))
      case 'agent_delta':
        return this.#each(frame.app_id, ({ views }) => views.forEach(view => view.delta?.(frame)))
      case 'error':
        return this.#asked(frame.request_id, feed => {
          const { status, code, detail } = frame
          feed.ended(code, new ParleyError(detail, { status, code }))
          if (status === 429 || status >= 500) setTimeout(() => feed.isHeld && feed.ask(), againMs)
        })
      case 'welcome':
      case 'pong':
        return
      default:
        // What was lost is there again.
        if (frame.type === 'app_added')
          this.#each(frame.app_id, feed => feed.isHeld && feed.state === 'ended' && feed.ask())
        for (const { frame: hear } of this.#personal) hear(frame)
    }
  }

  #subscribed(feed: Feed, frame: Subscribed): void {
    feed.subscribed(frame)
    this.#index(feed)
    // One that was asked for by another name has lost its subscription to this one, and what came in between.
    for (const other of this.list()) {
      const isSame = other !== feed && (other.id === frame.app_id || other.ref === frame.uid)
      if (isSame && other.isHeld && (!other.isAnswered || other.rev! < frame.rev)) other.ask()
    }
  }

  #index(feed: Feed): void {
    if (feed.id === undefined) return
    const same = this.#byId.get(feed.id)
    if (same === undefined) this.#byId.set(feed.id, new Set([feed]))
    else same.add(feed)
  }

  #each(app: number, tell: (feed: Feed) => unknown): void {
    for (const feed of this.#byId.get(app) ?? []) tell(feed)
  }

  #asked(request: number | undefined, tell: (feed: Feed) => unknown): void {
    const feed = request === undefined ? undefined : this.#byRequest.get(request)
    if (feed !== undefined && feed.request === request) tell(feed)
  }
}

export interface PersonalListener {
  /** Whatever was known may be old. */
  opened?: () => void
  lost?: () => void
  frame: (frame: PersonalFrame) => unknown
}
