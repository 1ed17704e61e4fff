import type { Client } from './client.ts'
import type { AgentDelta, AgentRun, AppSnapshot, RealtimeEvent, Typing as TypingFrame } from './connection/frames.ts'
import type { Feed, View } from './store/feed.ts'
import { Members } from './collections/members.ts'
import { Typing } from './collections/typing.ts'
import { AppUnread } from './collections/unread.ts'
import { AgentWork } from './collections/work.ts'
import {
  commentsOf,
  filesOf,
  messagesOf,
  postsOf,
  type Comments,
  type Files,
  type Messages,
  type Posts,
} from './collections/of-app.ts'

/** A place in the history of an app. */
export interface Place {
  rev: number
  epoch: string
}

export interface AppListener {
  event?(event: RealtimeEvent): void
  /** The app as it is, in place of all that was known of it. */
  snapshot?(snapshot: AppSnapshot, rev: number): void
  typing?(typing: TypingFrame): void
  /** An agent is at work, and how that ended. */
  run?(run: AgentRun): void
  /** Text of an agent's unfinished answer. */
  delta?(delta: AgentDelta): void
  /** Access was lost (`access-lost`), the app is gone (`app-gone`), or there never was one (`not-found`). */
  ended?(reason: string): void
}

/** One app: its collections are made when they are asked for, and are the same ones each time. */
export class App {
  /** The id or uid by which it was asked for. */
  readonly ref: string
  readonly #client: Client
  readonly #made = new Map<string, unknown>()

  constructor(client: Client, ref: string) {
    this.#client = client
    this.ref = ref
  }

  get messages(): Messages {
    return this.#once('messages', () => messagesOf(this.#client, this.ref))
  }

  get posts(): Posts {
    return this.#once('posts', () => postsOf(this.#client, this.ref))
  }

  get files(): Files {
    return this.#once('files', () => filesOf(this.#client, this.ref))
  }

  /** The comments on a post or file; without one, those of an app of comments. */
  comments(of?: { type: 'post' | 'file'; id: number }): Comments {
    return this.#once(`comments ${of?.type} ${of?.id}`, () => commentsOf(this.#client, this.ref, of))
  }

  get members(): Members {
    return this.#once('members', () => new Members(this.#client, this.#feed))
  }

  /** Who is typing. */
  get typing(): Typing {
    return this.#once('typing', () => new Typing(this.#feed))
  }

  /** What agents are doing. */
  get work(): AgentWork {
    return this.#once('work', () => new AgentWork(this.#feed))
  }

  /** What the user has read. */
  get unread(): AppUnread {
    return this.#once('unread', () => new AppUnread(this.#client, this.#feed))
  }

  /** The place in the history up to which the app is known here: with it, another life of the program goes on from there. */
  get place(): Place | undefined {
    const { rev, epoch } = this.#feed
    return rev === undefined || epoch === undefined ? undefined : { rev, epoch }
  }

  /**
   * Hears every event of the app once and in order, from a place on or from now on. Where the history does not reach the
   * place, the listener is told the app as it is now. Returns what ends it.
   */
  follow(listener: AppListener, from?: Place): () => void {
    const feed = this.#feed
    if (from !== undefined && feed.rev === undefined) Object.assign(feed, from)
    // A listener of its own each time, also where one object is given twice.
    const view: View = {
      event: event => listener.event?.(event),
      snapshot: (snapshot, rev) => listener.snapshot?.(snapshot, rev),
      typing: typing => listener.typing?.(typing),
      run: run => listener.run?.(run),
      delta: delta => listener.delta?.(delta),
      moved: () => {
        if (feed.state === 'ended') listener.ended?.(feed.reason!)
      },
    }
    feed.views.add(view)
    const release = feed.hold({ agents: listener.run !== undefined || listener.delta !== undefined })
    return () => {
      feed.views.delete(view)
      release()
    }
  }

  get #feed(): Feed {
    return this.#client.feeds.of(this.ref)
  }

  /** Tells the others that the user is typing; to be called again while that lasts, at most every few seconds. */
  async type(): Promise<void> {
    await this.#client.http.request('PUT', `/api/apps/${encodeURIComponent(this.ref)}/typing`, { attempts: 1 })
  }

  #once<Made>(name: string, make: () => Made): Made {
    if (!this.#made.has(name)) this.#made.set(name, make())
    return this.#made.get(name) as Made
  }
}
