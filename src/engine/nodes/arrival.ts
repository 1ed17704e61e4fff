import type { Bus } from '../../cluster/bus.ts'
import { withTimeout, type Clock } from '../../lib/clock.ts'
import { leaseMs, type ReadLease } from './read-lease.ts'

/** The message of a node that starts. The other nodes answer with their ids on its own channel. */
interface Arrival {
  node: string
}

const arrivalChannel = 'arrival'
const channelOf = (node: string) => `heard:${node}`

/** More than clocks can differ within a lease. */
const marginMs = 100

/** Ends this node's lease when another node starts. */
export function revokeOnArrival(lease: ReadLease, bus: Bus, node: string): void {
  bus.subscribe(arrivalChannel, message => {
    const { node: other } = message as Arrival
    if (other === node) return
    lease.revoke()
    bus.publish(channelOf(other), { node } satisfies Arrival)
  })
}

/**
 * Resolves when none of the other nodes holds a lease that it was given before this node registered: each has answered,
 * or as much time has passed as a lease lasts, for nodes that were killed or do not hear.
 */
export async function announceArrival(others: readonly string[], bus: Bus, node: string, clock: Clock): Promise<void> {
  if (others.length === 0) return
  const silent = new Set(others)
  const heard = Promise.withResolvers<void>()
  const end = bus.subscribe(channelOf(node), message => {
    silent.delete((message as Arrival).node)
    if (silent.size === 0) heard.resolve()
  })
  bus.publish(arrivalChannel, { node } satisfies Arrival)
  await withTimeout(heard.promise, { clock, timeoutMs: leaseMs + marginMs, onTimeout: () => {} })
  end()
}
