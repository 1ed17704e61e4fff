import type { AppSummary } from '../../http/paths.ts'
import type { PersonalFrame } from '../../connection/frames.ts'
import type { Content } from '../../store/fold.ts'
import { toParleyError } from '../../http/error.ts'
import type { Client } from '../../client.ts'
import { PersonalList } from './personal-list.ts'
import { againMs } from './personal-view.ts'

/** An app in the list of a user. */
export interface ListedApp extends AppSummary {
  last_message?: Omit<Content, 'app'>
  members?: { data?: { id: number; name: string; avatar_url?: string }[]; count: number }
}

/** Changes are gathered for this long before the apps are read. */
const gatherMs = 100

/** Where more apps have changed, the list is read instead of each. */
const readAtMost = 10

/** The apps of the user, those with the newest activity first. */
export class Apps extends PersonalList<ListedApp> {
  readonly #stale = new Set<number>()
  /** Pins that are not answered. */
  readonly #pinning = new Map<number, boolean>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isRefreshing = false
  /** How often the list was read. */
  #lists = 0

  constructor(client: Client) {
    super(client, { path: '/api/apps', query: { order_by: 'rev desc', out: 'details' }, pageSize: 50 })
  }

  /** Pins an app, or takes the pin away. */
  async pin(id: number, isPinned = true): Promise<void> {
    this.#pinning.set(id, isPinned)
    this.change()
    try {
      await this.client.http.request(isPinned ? 'PUT' : 'DELETE', `/api/apps/${id}/pin`)
      const known = this.known.get(id)
      if (known !== undefined) this.known.set(id, { ...known, is_pinned: isPinned })
    } finally {
      this.#pinning.delete(id)
      this.change()
    }
  }

  protected show(apps: ListedApp[]): readonly ListedApp[] {
    return apps
      .sort((a, b) => b.rev - a.rev)
      .map(app => {
        const is_pinned = this.#pinning.get(app.id) ?? app.is_pinned
        return is_pinned === app.is_pinned ? app : { ...app, is_pinned }
      })
  }

  protected takeOver(read: readonly ListedApp[]): Map<number, ListedApp> {
    this.#lists++
    return new Map(read.map(app => [app.id, newer(this.known.get(app.id), app)]))
  }

  protected hear(frame: PersonalFrame): void {
    if (frame.type === 'app_removed') {
      this.#stale.delete(frame.app_id)
      if (this.isLoading) this.reload()
      if (this.known.delete(frame.app_id)) this.change()
    } else if (frame.type === 'app_added' || frame.type === 'app_changed' || frame.type === 'unread') {
      const known = this.known.get(frame.app_id)
      if (frame.type === 'unread' && known !== undefined && known.is_unread !== frame.is_unread) {
        this.known.set(frame.app_id, { ...known, is_unread: frame.is_unread })
        this.change()
      }
      this.#stale.add(frame.app_id)
      this.#refreshSoon(gatherMs)
    }
  }

  #refreshSoon(ms: number): void {
    if (this.#isRefreshing || this.#timer !== undefined) return
    this.#timer = setTimeout(() => void this.#refresh(), ms)
  }

  /** Reads the apps of which something was said, one time after the other, so that nothing older comes last. */
  async #refresh(): Promise<void> {
    this.#timer = undefined
    const ids = Array.from(this.#stale)
    this.#stale.clear()
    if (this.isLoading || ids.length > readAtMost) return this.reload()
    this.#isRefreshing = true
    const lists = this.#lists
    const query = { out: 'details' }
    let hasFailed = false
    await Promise.all(
      ids.map(async id => {
        try {
          const app = await this.client.http.request<ListedApp>('GET', `/api/apps/${id}`, { query })
          // The list may have been read after it.
          if (lists !== this.#lists) this.#stale.add(id)
          else if (app.is_trashed) this.known.delete(id)
          else this.known.set(id, newer(this.known.get(id), app))
        } catch (thrown) {
          const error = toParleyError(thrown)
          if (error.status === 404) return void this.known.delete(id)
          hasFailed = true
          this.#stale.add(id)
          this.client.warn(error)
        }
      }),
    )
    this.#isRefreshing = false
    this.change()
    if (this.#stale.size > 0 && this.isSubscribed) this.#refreshSoon(hasFailed ? againMs : gatherMs)
  }
}

/** An app never goes back. */
function newer(known: ListedApp | undefined, read: ListedApp): ListedApp {
  return known !== undefined && known.rev > read.rev ? known : read
}
