import type { Apps } from '../../actors/apps.ts'
import type { EventTypes } from '../../actors/catch-up.ts'
import type { Environment } from '../../actors/environment.ts'
import type { People } from '../../actors/people.ts'
import { addressCheck } from '../../delivery/addresses.ts'
import { Deliverer } from '../../delivery/deliverer.ts'
import { Egress } from '../../delivery/egress.ts'
import { Limiter } from '../../delivery/limiter.ts'
import { forgetDeliveries } from '../../delivery/retention.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Chore } from '../../storage/housekeeping.ts'
import type { Sql } from '../../storage/sql.ts'
import type { Registrations } from './consumer.ts'
import { composePayload } from './payload.ts'

export interface DeliverySettings {
  version: string
  /** Deliveries to one receiver. */
  ratePerSecond: number
  /** Deliveries to one webhook at a time. */
  parallel: number
  /** Time that a receiver has to answer. */
  deadlineMs: number
  /** Ranges of addresses beyond public, private and loopback ones. */
  allow: readonly string[]
  deny: readonly string[]
}

interface DeliveryParts {
  sql: Sql
  apps: Apps
  people: People
  environment: Environment
  events: EventTypes
  registrations: Registrations
  origin: () => string
  vault: Vault
  settings: DeliverySettings
  clock: Clock
  log: Log
}

/** A deliverer that commits on this node wake. It begins with what earlier nodes left when its chores begin. */
export function startDelivery({ registrations, settings, ...parts }: DeliveryParts): Deliverer {
  const { apps, environment, sql, vault, clock, log } = parts
  const { version, ratePerSecond, parallel, deadlineMs, allow, deny } = settings
  const deliverer = new Deliverer({
    sql,
    egress: new Egress({ isAllowed: addressCheck({ allowsPrivate: true, allow, deny }) }),
    vault,
    limiter: new Limiter(ratePerSecond),
    compose: composePayload(parts),
    userAgent: `ServiceBot/${version}`,
    deadlineMs,
    parallel,
    clock,
    log,
  })
  apps.listen((_state, events) => {
    for (const webhook of registrations.concerned(events)) deliverer.wake(webhook)
  })
  environment.listen(({ type, entity_id }) => {
    if (type === 'delivery_queued') deliverer.wake(entity_id)
  })
  return deliverer
}

interface ChoreParts {
  deliverer: Deliverer
  registrations: Registrations
  sql: Sql
  past: () => Promise<Date>
  log: Log
}

/** What deliveries need to be done again and again. */
export function deliveryChores({ deliverer, registrations, ...parts }: ChoreParts): Chore[] {
  const look = async () => {
    if (!registrations.isEmpty) await deliverer.look()
  }
  return [
    { name: 'look for deliveries', periodMs: 1_000, run: look },
    { name: 'count deliveries', periodMs: 15_000, run: () => deliverer.count() },
    { name: 'forget deliveries', periodMs: 60_000, run: signal => forgetDeliveries({ ...parts, signal }) },
  ]
}
