import type { SharedLog } from '../../log/shared-log.ts'
import { ipCheck } from '../../egress/ip-policy.ts'
import { Deliverer } from './delivery/deliverer.ts'
import { Egress } from '../../egress/egress.ts'
import { attempt, type Pings } from './delivery/attempt.ts'
import { overloaded } from '../../lib/errors.ts'
import { ReceiverPacer } from './delivery/receiver-pacer.ts'
import { forgetDeliveries } from './delivery/retention.ts'
import type { GlobalCommands } from '../../engine/global/global-commands.ts'
import { server } from '../../auth/principal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Tracer } from '../../lib/tracer.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Job } from '../../jobs/jobs.ts'
import type { Sql } from '../../postgres/sql.ts'
import { disableFailing } from './commands.ts'
import type { Registrations } from './consumer.ts'
import { composePayload, type PayloadParts } from './payload.ts'
import { isAnyEnabled, listFailing } from './store.ts'

export interface DeliverySettings {
  version: string
  /** Requests per second to one receiver. */
  ratePerSecond: number
  /** Concurrent deliveries of one webhook. */
  parallel: number
  /** How long a receiver may take to answer. */
  deadlineMs: number
  /** Allowed ranges of addresses beyond public, private and loopback ones. */
  allow: readonly string[]
  deny: readonly string[]
}

interface DeliveryParts extends PayloadParts {
  sharedLog: SharedLog
  registrations: Registrations
  vault: Vault
  settings: DeliverySettings
  /** Null where deliveries are not traced. */
  tracer: Tracer | null
  clock: Clock
  /** Aborts when the node stops. */
  signal: AbortSignal
}

/** A deliverer that commits on this node wake. It begins with what earlier nodes left when its jobs begin. */
export function startDelivery({ registrations, settings, ...parts }: DeliveryParts) {
  const { apps, sharedLog, sql, vault, tracer, clock, log, signal } = parts
  const { version, ratePerSecond, parallel, deadlineMs, allow, deny } = settings
  const egress = new Egress({ isAllowed: ipCheck({ allowsPrivate: true, allow, deny }) })
  const userAgent = `ServiceBot/${version}`
  const deliverer = new Deliverer({
    sql,
    egress,
    vault,
    limiter: new ReceiverPacer(ratePerSecond),
    compose: composePayload(parts),
    userAgent,
    deadlineMs,
    parallel,
    tracer,
    clock,
    log,
  })
  apps.onWritten((_, events) => {
    for (const webhook of registrations.concerned(events)) deliverer.wake(webhook)
  })
  sharedLog.listen(({ type, entity_id }) => {
    if (type === 'delivery_queued') deliverer.wake(entity_id)
  })
  const pings: Pings = {
    async send(shipment) {
      const startedAt = new Date(clock.now())
      const outcome = await attempt(egress, shipment, { deadlineMs, userAgent, signal, startedAt })
      // Aborted because the node stops.
      if (outcome === null) throw overloaded()
      return outcome
    },
  }
  return { deliverer, pings }
}

/** A receiver that has failed for so long will not recover by itself. Stripe, for comparison, disables after three. */
const failingDays = 5

interface JobParts {
  deliverer: Deliverer
  globalCommands: GlobalCommands
  sql: Sql
  past: () => Promise<Date>
  log: Log
}

/** What deliveries need to be done again and again. */
export function deliveryJobs({ deliverer, globalCommands, ...parts }: JobParts): Job[] {
  const look = async () => {
    await deliverer.poll()
    // Failed deliveries become due by time alone.
    return false
  }
  const { sql, past, log } = parts
  const disable = async () => {
    const failingBefore = new Date((await past()).getTime() - failingDays * 86_400_000)
    for (const webhook of await listFailing(sql, failingBefore)) {
      if (await globalCommands.run(disableFailing, server, { id: webhook, failingBefore }))
        log.warn({ webhook, days: failingDays }, 'A webhook was disabled, as no delivery has succeeded for days')
    }
  }
  return [
    { name: 'look for deliveries', periodMs: 1_000, dueWhere: isAnyEnabled, run: look },
    { name: 'count deliveries', periodMs: 15_000, run: () => deliverer.count() },
    { name: 'forget deliveries', periodMs: 60_000, run: signal => forgetDeliveries({ ...parts, signal }) },
    { name: 'disable failing webhooks', periodMs: 60_000, run: disable },
  ]
}
