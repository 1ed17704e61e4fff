import { authenticate } from '../auth/authentication.ts'
import { toRealtimeSettings } from '../config/part-options.ts'
import { Realtime } from '../realtime/realtime.ts'
import type { AppPolicy } from '../realtime/app-policy.ts'
import { isRemovable } from '../resources/apps/kinds.ts'
import { canRead } from '../resources/apps/members/access.ts'
import { isListed, isUnread } from '../resources/apps/own/unread.ts'
import { findAppIds } from '../resources/apps/store.ts'
import { eventTypes as events } from '../resources/index.ts'
import { lookAmong } from '../resources/users/lists/online.ts'
import { snapshots } from '../resources/snapshots/take.ts'
import { actorOf } from '../resources/users/represent.ts'
import type { UserCache } from '../auth/user-cache.ts'
import type { Base } from './base.ts'
import type { Engine } from './engine.ts'
import type { Links } from './links.ts'
import type { SharedState } from './shared-state.ts'
import type { Storage } from './storage.ts'

/** Sends sessions what happens. It has none before it is attached to the HTTP server. */
export async function openRealtime(parts: Base & Storage & SharedState & Engine & Links): Promise<Realtime> {
  const { config, sql, userCache, credentials, origin, onMoved, metrics } = parts
  const realtime = new Realtime({
    ...parts,
    events,
    policy: toAppPolicy(userCache),
    findVisible: (users, active) => lookAmong({ sql, userCache, users, active }),
    findByUid: (uids, by) => findAppIds(sql, uids, by),
    takeSnapshot: snapshots({ ...parts, origin: origin.inFrames }),
    authenticate: (token, address) => authenticate('token', `Bearer ${token}`, credentials, () => address),
    actor: actorOf,
    origin: origin.inFrames,
    fallbackOrigin: origin.get,
    settings: toRealtimeSettings(config),
  })
  await realtime.start()
  onMoved(moved => realtime.onAppsChanged(moved))
  metrics.gauge('parley_sessions', 'Realtime connections.', () => realtime.figures.sessions)
  metrics.gauge('parley_channels', 'Apps that somebody is subscribed to.', () => realtime.figures.topics)
  return realtime
}

/** The rules by which realtime sends what happens in apps. */
function toAppPolicy(userCache: UserCache): AppPolicy {
  return {
    canRead: (state, user) => canRead(state, user, userCache),
    hiddenUntil: (state, user) => state.member(user)?.hidden_id ?? 0,
    isListed,
    isUnread,
    isRemovable,
  }
}
