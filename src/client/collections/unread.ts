import type { AppSnapshot, RealtimeEvent } from '../connection/frames.ts'
import type { Client } from '../client.ts'
import type { Query } from '../http/http.ts'
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

/** A mark that was asked for; null for one that is taken away. It is over when it is answered and heard of. */
interface Marking {
  id: number | null
  isAnswered: boolean
  isHeard: boolean
}

/** How long an answered mark may wait to be heard of. One that changes nothing never is. */
const heardMs = 2_000

/** Whether an app has something that the user has not read. */
export class AppUnread extends AppView<Unread> {
  readonly #client: Client
  #known: Unread = { is_unread: false, last_id: undefined, marked_id: undefined }
  /** Events say at once what frames say for certain, a moment later: a cut may come in between. */
  #isSure = true
  #marking: Marking | undefined
  #data: Unread | undefined

  constructor(client: Client, feed: Feed) {
    super(client, feed)
    this.#client = client
    client.feeds.listen({
      frame: frame => {
        if (frame.type !== 'unread' || frame.app_id !== this.feed.id) return
        const { is_unread, last_id, marked_id } = frame
        this.#isSure = last_id === this.#known.last_id && marked_id === this.#known.marked_id
        if (this.#marking?.id === (marked_id ?? null)) this.#hearMark()
        this.#set({ is_unread, last_id, marked_id })
      },
    })
  }

  /** Marks the app as read, up to a message or to its last one. */
  mark(message?: number): Promise<void> {
    return this.#mark('PUT', message ?? this.#known.last_id ?? 0, { message_id: message })
  }

  /** Marks the app as unread. */
  unmark(): Promise<void> {
    return this.#mark('DELETE', null, {})
  }

  override moved(): void {
    const { state, isAnswered } = this.feed
    // The mark goes with a membership that ends.
    if (state === 'ended' || (!isAnswered && !this.#isSure)) this.loadAgain()
    super.moved()
  }

  protected data(): Unread {
    const { last_id } = this.#known
    const mark = this.#marking
    this.#data ??= mark === undefined ? this.#known : this.#at(last_id, mark.id ?? undefined)
    return this.#data
  }

  protected takeSnapshot({ app, items = [], item_type, members = [] }: AppSnapshot): boolean {
    if (item_type !== 'message') return false
    const own = members.find(({ id }) => id === this.parts.user()?.id)
    this.#isSure = true
    this.#set({ is_unread: app.is_unread, last_id: items[0]?.id, marked_id: own?.marked_id })
    return true
  }

  protected async load(): Promise<void> {
    await this.read<AppBody>(this.#path, {}, ({ is_unread, last_message, members }, rev) => {
      this.loadedRev = rev
      this.#isSure = true
      const own = members?.data?.find(({ id }) => id === this.parts.user()?.id)
      this.#set({ is_unread, last_id: last_message?.id, marked_id: own?.marked_id })
    })
  }

  protected apply(event: RealtimeEvent): void {
    const { is_unread, last_id, marked_id } = this.#known
    const isOwn = event.actor.id === this.parts.user()?.id
    switch (event.event) {
      case 'message_created': {
        const { id } = event.message
        return this.#expect({ is_unread: !isOwn, last_id: id, marked_id: isOwn ? id : marked_id })
      }
      case 'app_marked':
        if (!isOwn) return
        this.#hearMark()
        return this.#expect(this.#at(last_id, event.marked_id))
      case 'message_updated':
      case 'message_deleted':
        return this.#expect({ is_unread, last_id, marked_id })
      case 'member_added':
        if (event.member.id === this.parts.user()?.id) this.loadAgain()
    }
  }

  get #path(): string {
    return `/api/apps/${encodeURIComponent(this.feed.ref)}`
  }

  #at(last_id: number | undefined, marked_id: number | undefined): Unread {
    return { is_unread: last_id !== undefined && last_id > (marked_id ?? 0), last_id, marked_id }
  }

  /** Shows the mark at once; takes it back where the request fails. */
  async #mark(method: 'PUT' | 'DELETE', id: number | null, query: Query): Promise<void> {
    const mark: Marking = { id, isAnswered: false, isHeard: false }
    this.#marking = mark
    this.#set(this.#known)
    try {
      await this.#client.http.send(method, `${this.#path}/mark`, { query })
    } catch (error) {
      this.#end(mark)
      throw error
    }
    mark.isAnswered = true
    if (mark.isHeard || !this.isSubscribed) return this.#end(mark)
    setTimeout(() => {
      if (this.#marking !== mark) return
      this.#end(mark)
      this.loadAgain()
      this.moved()
    }, heardMs)
  }

  #hearMark(): void {
    const mark = this.#marking
    if (mark === undefined) return
    mark.isHeard = true
    if (mark.isAnswered) this.#end(mark)
  }

  #end(mark: Marking): void {
    if (this.#marking === mark) this.#marking = undefined
    this.#set(this.#known)
  }

  #expect(known: Unread): void {
    this.#isSure = false
    this.#set(known)
  }

  #set(known: Unread): void {
    this.#known = known
    this.#data = undefined
    this.changed()
  }
}
