import type { AppSnapshot, RealtimeEvent } from '../connection/frames.ts'
import type { Client } from '../client.ts'
import type { Feed } from '../store/feed.ts'
import { AppView } from './app-view.ts'

/** What of an app the user has read. */
export interface Unread {
  readonly is_unread: boolean
  /** The newest message. */
  readonly last_id: number | undefined
  /** The message up to which everything is read. */
  readonly marked_id: number | undefined
}

interface AppBody {
  is_unread: boolean
  last_message?: { id: number }
  members?: { data?: { id: number; marked_id?: number }[] }
}

/** Whether an app has something that the user has not read. */
export class AppUnread extends AppView<Unread> {
  readonly #client: Client
  #known: Unread = { is_unread: false, last_id: undefined, marked_id: undefined }
  /** A mark that is not answered; null for one that is taken away. */
  #marking: { id: number | null } | undefined
  #data: Unread | undefined

  constructor(client: Client, feed: Feed) {
    super(client, feed)
    this.#client = client
    client.feeds.listen({
      frame: frame => {
        if (frame.type !== 'unread' || frame.app_id !== this.feed.id) return
        const { is_unread, last_id, marked_id } = frame
        this.#set({ is_unread, last_id, marked_id })
      },
    })
  }

  /** Marks the app as read, up to a message or to its last one. */
  async mark(message?: number): Promise<void> {
    const id = message ?? this.#known.last_id ?? 0
    const query = { message_id: message }
    await this.#optimistic(id, () => this.#client.http.send('PUT', `${this.#path}/mark`, { query }))
    const { last_id = 0 } = this.#known
    // Without a message, the mark is on the last one that the server knows.
    this.#set({ ...this.#known, is_unread: message !== undefined && last_id > id, marked_id: id })
  }

  /** Marks the app as unread. */
  async unmark(): Promise<void> {
    await this.#optimistic(null, () => this.#client.http.send('DELETE', `${this.#path}/mark`))
    this.#set({ ...this.#known, is_unread: this.#known.last_id !== undefined, marked_id: undefined })
  }

  protected data(): Unread {
    const { last_id } = this.#known
    const mark = this.#marking
    this.#data ??=
      mark === undefined
        ? this.#known
        : { last_id, marked_id: mark.id ?? undefined, is_unread: last_id !== undefined && last_id > (mark.id ?? 0) }
    return this.#data
  }

  protected takeSnapshot({ app, items = [], item_type, members = [] }: AppSnapshot): boolean {
    if (item_type !== 'message') return false
    const own = members.find(({ id }) => id === this.parts.user()?.id)
    this.#set({ is_unread: app.is_unread, last_id: items[0]?.id, marked_id: own?.marked_id })
    return true
  }

  protected async load(): Promise<void> {
    await this.read<AppBody>(this.#path, {}, ({ is_unread, last_message, members }, rev) => {
      this.loadedRev = rev
      const own = members?.data?.find(({ id }) => id === this.parts.user()?.id)
      this.#set({ is_unread, last_id: last_message?.id, marked_id: own?.marked_id })
    })
  }

  protected apply(event: RealtimeEvent): void {
    if (event.event !== 'message_created') return
    const { id } = event.message
    const isOwn = event.actor.id === this.parts.user()?.id
    // Frames of what is unread are gathered; the events say it at once.
    this.#set({ is_unread: !isOwn, last_id: id, marked_id: isOwn ? id : this.#known.marked_id })
  }

  get #path(): string {
    return `/api/apps/${encodeURIComponent(this.feed.ref)}`
  }

  async #optimistic(id: number | null, request: () => Promise<unknown>): Promise<void> {
    const mark = { id }
    this.#marking = mark
    this.#set(this.#known)
    try {
      await request()
    } finally {
      if (this.#marking === mark) this.#marking = undefined
      this.#set(this.#known)
    }
  }

  #set(known: Unread): void {
    this.#known = known
    this.#data = undefined
    this.changed()
  }
}
