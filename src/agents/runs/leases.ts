import { everyWhile, type Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Sql } from '../../postgres/sql.ts'
import { RunLost } from './run.ts'
import { leaseSeconds, renewLeases, type Renewed } from './lease-store.ts'

/** A third of a lease: two renewals may fail before it expires. */
const renewMs = 5_000

/** A lease of this node. */
interface Held {
  /** Expiry by this node's clock, a little before PostgreSQL's. */
  untilMs: number
  end: (reason: RunLost, found: Renewed | null) => void
}

interface LeasesOptions {
  sql: Sql
  node: string
  clock: Clock
  log: Log
}

/** Leases renewed by one statement. A thousand at once delayed all commits by 100 ms and more. */
const batchSize = 50

/** Allows for the time of the statement that took the lease. */
const marginMs = 1_000

/**
 * Renews the leases of this node's runs, and aborts work on runs that it has lost: cancelled, deleted, or because the
 * database was unreachable for as long as a lease lasts.
 */
export class Leases {
  readonly #options: LeasesOptions
  readonly #held = new Map<number, Held>()
  readonly #stopping = new AbortController()
  readonly #renewRepeatedly: () => void

  constructor(options: LeasesOptions) {
    this.#options = options
    this.#renewRepeatedly = everyWhile(options.clock, renewMs, this.#stopping.signal, async () => {
      await this.renew([...this.#held.keys()])
      return this.#held.size > 0
    })
  }

  /** Renews the lease of a run that was claimed at `claimedMs`, until `drop`. Calls `end` once if the lease is lost. */
  keep(run: number, claimedMs: number, end: Held['end']): void {
    this.#held.set(run, { untilMs: claimedMs + leaseSeconds * 1000 - marginMs, end })
    this.#renewRepeatedly()
  }

  drop(run: number): void {
    this.#held.delete(run)
  }

  /** Renews the leases of some runs now: they may have been cancelled. */
  async renew(runs: number[]): Promise<void> {
    for (let at = 0; at < runs.length; at += batchSize) await this.#renew(runs.slice(at, at + batchSize))
  }

  async #renew(runs: number[]): Promise<void> {
    const { sql, node, log } = this.#options
    const askedMs = performance.now()
    try {
      const found = new Map((await renewLeases(sql, node, runs)).map(row => [row.id, row]))
      for (const run of runs) {
        const row = found.get(run)
        const held = this.#held.get(run)
        if (held === undefined) continue
        if (row?.is_held) held.untilMs = askedMs + leaseSeconds * 1000 - marginMs
        else this.#lose(run, held, row ?? null)
      }
    } catch (error) {
      log.warn({ error, runs: runs.length }, 'Leases of runs could not be renewed')
      for (const [run, held] of this.#held) if (performance.now() > held.untilMs) this.#lose(run, held, null)
    }
  }

  stop(): void {
    this.#stopping.abort()
  }

  #lose(run: number, held: Held, found: Renewed | null): void {
    this.#held.delete(run)
    held.end(new RunLost('The lease of the run is over'), found)
  }
}
