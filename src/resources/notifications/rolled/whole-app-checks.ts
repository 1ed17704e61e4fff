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

/**
 * Tells whether an app is small, or its last check as a whole by this node is long ago; then it counts as checked now.
 * In memory only: after a restart, each is checked once.
 */
export function wholeAppChecks(apps: Pick<Apps, 'peek'>, clock: Clock): (app: number) => boolean {
  const checkedAtMs = new Map<number, number>()
  return app => {
    if ((apps.peek(app)?.memberCount ?? 0) <= fewMembers) return true
    const nowMs = clock.now()
    if (nowMs - (checkedAtMs.get(app) ?? -Infinity) < periodMs) return false
    if (checkedAtMs.size >= most) checkedAtMs.clear()
    checkedAtMs.set(app, nowMs)
    return true
  }
}
