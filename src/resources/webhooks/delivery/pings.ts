import { overloaded } from '../../../lib/errors.ts'
import { attempt, type AttemptOptions, type Shipment } from './attempt.ts'
import type { Egress } from '../../../egress/egress.ts'
import type { Outcome } from './store.ts'

interface PingParts extends Pick<AttemptOptions, 'deadlineMs' | 'userAgent' | 'signal'> {
  egress: Egress
  now: () => Date
}

export type Pings = ReturnType<typeof createPings>

/** Immediate attempts outside of the queues, for testing a receiver. The signal aborts them. */
export function createPings({ egress, now, ...options }: PingParts) {
  return {
    async send(shipment: Shipment): Promise<Outcome> {
      const outcome = await attempt(egress, shipment, { ...options, startedAt: now() })
      // Aborted because the node stops.
      if (outcome === null) throw overloaded()
      return outcome
    },
  }
}
