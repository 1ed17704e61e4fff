import { toDeliverySettings } from '../config/part-options.ts'
import type { Realtime } from '../realtime/realtime.ts'
import { eventTypes as events } from '../resources/index.ts'
import { Notifier } from '../resources/notifications/processing/consumer.ts'
import { Feed } from '../resources/notifications/processing/feed.ts'
import { startDelivery } from '../resources/webhooks/delivery.ts'
import type { Base } from './base.ts'
import type { Engine } from './engine.ts'
import type { SharedState } from './shared-state.ts'
import type { Storage } from './storage.ts'

export type Webhooks = ReturnType<typeof startWebhooks>
export type Notifications = Awaited<ReturnType<typeof startNotifications>>

/** Sends webhooks what was committed for them. */
export function startWebhooks(parts: Base & Storage & SharedState & Engine) {
  const { config, origin, metrics, teardown } = parts
  const stopping = new AbortController()
  const { deliverer, pings } = startDelivery({
    ...parts,
    events,
    origin: origin.get,
    settings: toDeliverySettings(config),
    signal: stopping.signal,
  })
  teardown.add('deliveries', deadlineMs => deliverer.stop(deadlineMs))
  teardown.add('pings', async () => stopping.abort())
  metrics.counter('parley_deliveries_total', 'Attempts to deliver to webhooks.', () => deliverer.attempts, 'status')
  metrics.gauge('parley_deliveries_queued', 'Deliveries that wait, on all nodes.', () => deliverer.waiting)
  return { deliverer, pings }
}

/** Makes notifications of what was committed, and sends them to the sessions on this node. */
export async function startNotifications(parts: Base & Storage & SharedState & Engine & { realtime: Realtime }) {
  const { config, realtime, origin, metrics, teardown } = parts
  const feed = new Feed({
    ...parts,
    localUsers: () => realtime.users,
    send: (user, frame, change) => realtime.sendToUser(user, frame, change),
    origin: origin.inFrames,
    nowMs: () => performance.now(),
  })
  await feed.start()
  const patienceMs = config.notifySeconds * 1000
  const notifier = new Notifier({ ...parts, events, patienceMs, onNotifications: () => feed.wake() })
  teardown.add('feed', () => feed.stop())
  teardown.add('notifications', () => notifier.stop())
  void notifier.start()

  metrics.gauge(
    'parley_background_waiting',
    'Apps with events of which notifications and search terms are still to be made, as this node knows.',
    () => notifier.waiting,
  )
  metrics.gauge(
    'parley_background_lag_seconds',
    'How long the oldest of these events has waited.',
    () => notifier.lagSeconds,
  )
  return { feed, notifier }
}
