import type { Apps } from '../../../engine/apps.ts'
import type { Clock } from '../../../lib/clock.ts'
import { fewMembers } from './due.ts'

/**
 * How often all members of a large app are checked for unread messages. Only users who marked a notification as read,
 * but not its messages, wait for it. A guess: in a room of 100,000 it takes a tenth of a second.
 */
const periodMs = 60_000

/** The most large apps that are remembered. A guess: hardly any deployment has as many. */
const most = 1_000

/** When large apps were checked as a whole by this node. In memory only: after a restart, each is checked once. */
export class WholeAppChecks {
  readonly #apps: Pick<Apps, 'peek'>
  readonly #clock: Clock
  readonly #checkedAtMs = new Map<number, number>()

  constructor(apps: Pick<Apps, 'peek'>, clock: Clock) {
    this.#apps = apps
    this.#clock = clock
  }

  /** True where an app is small, or its last check is long ago; then it counts as checked now. */
  isDue(app: number): boolean {
    if ((this.#apps.peek(app)?.memberCount ?? 0) <= fewMembers) return true
    const nowMs = this.#clock.now()
    if (nowMs - (this.#checkedAtMs.get(app) ?? -Infinity) < periodMs) return false
    if (this.#checkedAtMs.size >= most) this.#checkedAtMs.clear()
    this.#checkedAtMs.set(app, nowMs)
    return true
  }
}
