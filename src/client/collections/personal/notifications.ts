import type { Notification } from '../../http/paths.ts'
import type { PersonalFrame } from '../../connection/frames.ts'
import type { Client } from '../../client.ts'
import { PersonalList } from './personal-list.ts'

/** The notifications of the user, newest first. */
export class Notifications extends PersonalList<Notification> {
  /** What was said while the list is read. */
  readonly #said = new Map<number, Notification>()
  /** Marks that are not answered. */
  readonly #marking = new Map<number, boolean>()

  constructor(client: Client) {
    super(client, { path: '/api/notifications', query: { order_by: 'id desc' }, pageSize: 25 })
  }

  /** Marks one as read, or as unread. */
  async mark(id: number, isRead = true): Promise<void> {
    await this.#optimistic([id], isRead, () =>
      this.client.http.request(isRead ? 'PUT' : 'DELETE', `/api/notifications/${id}/mark`),
    )
  }

  /** Marks all as read. */
  async markAll(): Promise<void> {
    await this.#optimistic(Array.from(this.known.keys()), true, () =>
      this.client.http.request('PUT', '/api/notifications/mark'),
    )
  }

  protected show(notifications: Notification[]): readonly Notification[] {
    return notifications
      .sort((a, b) => b.id - a.id)
      .map(one => {
        const isRead = this.#marking.get(one.id)
        return isRead === undefined || one.is_unread !== isRead ? one : { ...one, is_unread: !isRead }
      })
  }

  protected override read(): Promise<() => void> {
    this.#said.clear()
    return super.read()
  }

  protected takeOver(read: readonly Notification[]): Map<number, Notification> {
    return new Map([...read.map(one => [one.id, one] as const), ...this.#said])
  }

  protected hear(frame: PersonalFrame): void {
    if (frame.type === 'notifications_marked') return this.reload()
    if (frame.type !== 'notification_created' && frame.type !== 'notification_updated') return
    const notification = frame.notification as unknown as Notification
    if (this.isLoading) this.#said.set(notification.id, notification)
    this.known.set(notification.id, notification)
    this.change()
  }

  /** Shows marks at once; takes them back where they fail. */
  async #optimistic(ids: number[], isRead: boolean, request: () => Promise<unknown>): Promise<void> {
    for (const id of ids) this.#marking.set(id, isRead)
    this.change()
    try {
      await request()
      for (const id of ids) {
        const known = this.known.get(id)
        if (known !== undefined) this.known.set(id, { ...known, is_unread: !isRead })
      }
    } finally {
      for (const id of ids) this.#marking.delete(id)
      this.change()
    }
  }
}
