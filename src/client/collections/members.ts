import type { Member } from '../connection/event-members.ts'
import type { AppSnapshot, RealtimeEvent } from '../connection/frames.ts'
import type { Condition } from '../store/collection.ts'
import { AppView } from './app-view.ts'

interface Known {
  member: Member
  /** All events up to this rev are in it. */
  rev: number
}

interface ListBody {
  data?: Member[]
  count: number
}

/** As many members of an app come with a snapshot, and with a page. */
const pageSize = 100

/** The members of an app with their access and read markers, in the order in which they joined. */
export class Members extends AppView<readonly Member[]> {
  #known = new Map<number, Known>()
  #hasMore = false
  #data: readonly Member[] | undefined
  #more: Promise<void> | undefined

  override loadMore = (): Promise<void> => {
    if (!this.#hasMore) return Promise.resolve()
    // Members who have left meanwhile make others move up: the pages overlap.
    const skip = Math.max(0, this.#known.size - 10)
    this.#more ??= this.read<ListBody>(this.#path, { skip, take: pageSize }, ({ data = [], count }, rev) => {
      for (const member of data) if (!this.#known.has(member.id)) this.#known.set(member.id, { member, rev })
      this.#hasMore = data.length > 0 && skip + data.length < count
      this.#data = undefined
    }).finally(() => {
      this.#more = undefined
      this.changed()
    })
    this.changed()
    return this.#more
  }

  protected data(): readonly Member[] {
    this.#data ??= Array.from(this.#known.values(), ({ member }) => member)
    return this.#data
  }

  protected override condition(): Condition {
    return { ...super.condition(), hasMore: this.#hasMore, isLoadingMore: this.#more !== undefined }
  }

  protected takeSnapshot({ members = [], member_count = 0 }: AppSnapshot): boolean {
    this.#replace(members, member_count, this.feed.rev!)
    return true
  }

  protected async load(): Promise<void> {
    await this.read<ListBody>(this.#path, { take: pageSize }, ({ data = [], count }, rev) => {
      this.loadedRev = rev
      this.#replace(data, count, rev)
    })
  }

  protected apply(event: RealtimeEvent): void {
    switch (event.event) {
      case 'member_added':
      case 'member_updated':
        // Where not all are known, new ones come with the last page.
        if (this.#known.has(event.member.id) || (event.event === 'member_added' && !this.#hasMore))
          this.#put(event.member.id, event.rev, event.member)
        return
      case 'member_removed': {
        const known = this.#known.get(event.member.id)
        if (known === undefined || known.rev >= event.rev) return
        this.#known.delete(event.member.id)
        return this.#change()
      }
      case 'app_marked': {
        const { marked_id, marked_at } = event
        return this.#mark(event.actor.id, event.rev, {
          ...(marked_id && { marked_id }),
          ...(marked_at && { marked_at }),
        })
      }
      case 'message_created':
        // To write is to have read.
        return this.#mark(event.actor.id, event.rev, { marked_id: event.message.id, marked_at: event.created_at })
      case 'message_updated':
      case 'message_deleted':
        // Of a message that is gone, a history does not tell who has read by writing it.
        if (this.feed.state !== 'live' && (event.event === 'message_deleted' || event.message.is_trashed))
          this.loadAgain()
    }
  }

  get #path(): string {
    return `/api/apps/${encodeURIComponent(this.feed.ref)}/members`
  }

  #replace(members: readonly Member[], count: number, rev: number): void {
    this.#known = new Map(members.map(member => [member.id, { member, rev }]))
    this.#hasMore = members.length < count
    this.#data = undefined
  }

  /** Presence is in no event. */
  #put(id: number, rev: number, said: Member): void {
    const known = this.#known.get(id)
    if (known !== undefined && known.rev >= rev) return
    const member = { ...said, ...(known?.member.presence && { presence: known.member.presence }) }
    this.#known.set(id, { member, rev })
    this.#change()
  }

  #mark(id: number, rev: number, marker: Pick<Member, 'marked_id' | 'marked_at'>): void {
    const known = this.#known.get(id)
    if (known === undefined || known.rev >= rev) return
    const { marked_id: _id, marked_at: _at, ...member } = known.member
    this.#known.set(id, { member: { ...member, ...marker }, rev })
    this.#change()
  }

  #change(): void {
    this.#data = undefined
    this.changed()
  }
}
