import type { PersonalFrame } from '../../connection/frames.ts'
import { PersonalView } from './personal-view.ts'

/** In which apps the user has something unread. */
export interface UnreadSummary {
  /** How many apps these are. */
  readonly count: number
  /** Their ids. */
  readonly apps: readonly number[]
}

/** The apps in which something is unread. */
export class UnreadApps extends PersonalView<UnreadSummary> {
  #apps = new Set<number>()
  /** What was said while the list is read. */
  readonly #said = new Map<number, boolean>()
  #data: UnreadSummary | undefined

  protected data(): UnreadSummary {
    this.#data ??= { count: this.#apps.size, apps: Array.from(this.#apps) }
    return this.#data
  }

  protected async read(): Promise<() => void> {
    this.#said.clear()
    const query = { unread: true, order_by: 'id', take: 100 }
    const { items } = await this.readPages<{ id: number }>('/api/apps', query)
    return () => {
      this.#apps = new Set(items.map(({ id }) => id))
      for (const [app, isUnread] of this.#said) this.#put(app, isUnread)
      this.#change()
    }
  }

  protected hear(frame: PersonalFrame): void {
    if (frame.type === 'app_removed') this.#hear(frame.app_id, false)
    else if (frame.type === 'unread') this.#hear(frame.app_id, frame.is_unread)
    // Whether it is unread is known by the list alone.
    else if (frame.type === 'app_added') this.reload()
  }

  #hear(app: number, isUnread: boolean): void {
    if (this.isLoading) this.#said.set(app, isUnread)
    if (this.#put(app, isUnread)) this.#change()
  }

  #put(app: number, isUnread: boolean): boolean {
    if (this.#apps.has(app) === isUnread) return false
    if (isUnread) this.#apps.add(app)
    else this.#apps.delete(app)
    return true
  }

  #change(): void {
    this.#data = undefined
    this.changed()
  }
}
