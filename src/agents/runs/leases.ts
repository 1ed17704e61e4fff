import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Sql } from '../../postgres/sql.ts'
import { RunLost } from './run.ts'
import { leaseSeconds, renewLeases, type Renewed } from './store.ts'

/** A third of a lease: two renewals may fail before it is over. */
const renewMs = 5_000

/** A lease of this node. */
interface Held {
  /** By this node's clock, and a little before PostgreSQL thinks so. */
  untilMs: number
  end: (reason: RunLost, found: Renewed | null) => void
}

interface LeasesOptions {
  sql: Sql
  node: string
  clock: Clock
  log: Log
  nowMs: () => number
}

/**
 * Leases renewed by one statement. A thousand at once held up the commits of everybody else for 100 ms and more.
 */
const atOnce = 50

/** A margin for the way of the statement that took the lease. */
const marginMs = 1_000

/**
 * Keeps the leases of the runs that this node works on, and ends the work on those that it has lost: because a person has
 * cancelled the run, because it was deleted, or because the database could not be reached for as long as a lease lasts.
 */
export class Leases {
  readonly #options: LeasesOptions
  readonly #held = new Map<number, Held>()
  #cancel = () => {}
  #isTimed = false

  constructor(options: LeasesOptions) {
    this.#options = options
  }

  /** Runs that are kept. */
  get runs(): number[] {
    return [...this.#held.keys()]
  }

  /** Keeps a run that was claimed at `claimedMs` until `drop`. `end` is called once, when it is lost. */
  keep(run: number, claimedMs: number, end: Held['end']): void {
    this.#held.set(run, { untilMs: claimedMs + leaseSeconds * 1000 - marginMs, end })
    this.#time()
  }

  drop(run: number): void {
    this.#held.delete(run)
  }

  /** Renews the leases of runs of this node, all unless it is said. Asks at once: something may have happened to them. */
  async renew(runs = this.runs): Promise<void> {
    for (let at = 0; at < runs.length; at += atOnce) await this.#renew(runs.slice(at, at + atOnce))
  }

  async #renew(runs: number[]): Promise<void> {
    const { sql, node, nowMs, log } = this.#options
    const askedMs = nowMs()
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
      for (const [run, held] of this.#held) if (nowMs() > held.untilMs) this.#lose(run, held, null)
    }
  }

  stop(): void {
    this.#cancel()
    this.#isTimed = true
  }

  #lose(run: number, held: Held, found: Renewed | null): void {
    this.#held.delete(run)
    held.end(new RunLost('The lease of the run is over'), found)
  }

  #time(): void {
    if (this.#isTimed) return
    this.#isTimed = true
    this.#cancel = this.#options.clock.after(renewMs, async () => {
      await this.renew()
      this.#isTimed = false
      if (this.#held.size > 0) this.#time()
    })
  }
}
