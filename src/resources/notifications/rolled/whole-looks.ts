import type { Apps } from '../../../engine/apps.ts'
import type { Clock } from '../../../lib/clock.ts'
import { fewMembers } from './due.ts'

/**
 * How often everybody in a large app is looked at for unread messages. Only people who marked a notification as read, but
 * not its messages, wait for it. A guess: in a room of 100,000 it takes a tenth of a second.
 */
const periodMs = 60_000

/** Large apps that are remembered. A guess: nearly no deployment has as many. */
const most = 1_000

/** When large apps were looked through as a whole, on this node. In memory alone: after a restart, all of them are once. */
export class WholeLooks {
  readonly #apps: Pick<Apps, 'peek'>
  readonly #clock: Clock
  readonly #lookedAtMs = new Map<number, number>()

  constructor(apps: Pick<Apps, 'peek'>, clock: Clock) {
    this.#apps = apps
    this.#clock = clock
  }

  /** True where an app is small, or has not been looked through for long; it is now. */
  isDue(app: number): boolean {
    if ((this.#apps.peek(app)?.memberCount ?? 0) <= fewMembers) return true
    const nowMs = this.#clock.now()
    if (nowMs - (this.#lookedAtMs.get(app) ?? -Infinity) < periodMs) return false
    if (this.#lookedAtMs.size >= most) this.#lookedAtMs.clear()
    this.#lookedAtMs.set(app, nowMs)
    return true
  }
}
