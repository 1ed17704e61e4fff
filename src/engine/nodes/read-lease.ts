import { z } from 'zod'
import type { Bus } from '../../cluster/bus.ts'
import { withTimeout, type Clock } from '../../lib/clock.ts'

/**
 * How long a query that found no other node counts. A guess: three of these queries, which are made each second, so that
 * the lease does not lapse where one is late.
 */
export const leaseMs = 3_000

/**
 * Whether reads of apps may be answered from memory without asking PostgreSQL for head revs. A node holds the lease
 * while it is the only one on its database; its own commits are in its memory. It ends by itself: a node that freezes
 * does not hold it any more when it goes on.
 *
 * A node that starts registers in the database first, and commits to no app before every other node has revoked its own
 * lease, or leases that were renewed before have ended (see `announceArrival`). A node that stops removes its
 * registration after its last commit. So while a node holds the lease, no other node commits. The clock is monotonic; a
 * virtual machine that is paused with its clock may serve what memory had, until the next query a second later.
 */
export class ReadLease {
  readonly #nowMs: () => number
  #endsAtMs = Number.NEGATIVE_INFINITY
  #revokedAtMs = Number.NEGATIVE_INFINITY

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  get isHeld(): boolean {
    return this.#nowMs() < this.#endsAtMs
  }

  /** Prolongs the lease by a query that found no other node. `askedAtMs`: when it was sent, by the same clock. */
  renew(askedAtMs: number): void {
    if (askedAtMs > this.#revokedAtMs) this.#endsAtMs = askedAtMs + leaseMs
  }

  /** Ends the lease. A query that was sent before does not renew it. */
  revoke(): void {
    this.#revokedAtMs = this.#nowMs()
    this.#endsAtMs = Number.NEGATIVE_INFINITY
  }
}

/** The message of a node that starts. The other nodes answer with their ids on its own channel. */
const Arrival = z.object({ node: z.string() })
type Arrival = z.output<typeof Arrival>

const arrivalChannel = 'arrival'
const channelOf = (node: string) => `heard:${node}`

/** More than clocks can differ within a lease. */
const marginMs = 100

/** Ends this node's lease when another node starts. */
export function revokeOnArrival(lease: ReadLease, bus: Bus, node: string): void {
  bus.subscribe(arrivalChannel, Arrival.parse, ({ node: other }) => {
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
  const end = bus.subscribe(channelOf(node), Arrival.parse, ({ node: other }) => {
    silent.delete(other)
    if (silent.size === 0) heard.resolve()
  })
  bus.publish(arrivalChannel, { node } satisfies Arrival)
  await withTimeout(heard.promise, { clock, timeoutMs: leaseMs + marginMs, onTimeout: () => {} })
  end()
}
