import { randomUUID } from 'node:crypto'
import type { Log } from '../../../lib/log.ts'
import { FailureLog } from './failure-log.ts'
import { Queue, type QueueParts } from './queue.ts'
import { countQueued, listDue, type Outcome } from './store.ts'

export interface DelivererOptions extends QueueParts {
  log: Log
}

/** A queue that is being sent. */
interface Run {
  /** A delivery was queued after the run last looked. */
  isAwake: boolean
  queue: Queue | null
  done: Promise<void>
}

/**
 * Sends queued deliveries: of each webhook from one node at a time, in event order, with some concurrent attempts for
 * different apps; any number of webhooks at once. Woken by this node's commits (`wake`), and by `poll` about once a
 * second for deliveries of other nodes. It cannot be overloaded: deliveries wait in the database.
 *
 * If the process dies during an attempt, or cannot store its outcome, the delivery is sent again under its guid, with a
 * new payload, when the lease has expired: at least once. Otherwise each is sent once, whatever its outcome.
 */
export class Deliverer {
  readonly #options: DelivererOptions
  readonly #node = randomUUID()
  readonly #runs = new Map<number, Run>()
  /** Webhooks of which another node has the lease, as far as known: commits need not ask again before the next poll. */
  readonly #elsewhere = new Set<number>()
  /** The attempts of this node, by outcome. */
  readonly attempts = { success: 0, failure: 0 }
  readonly #failures: FailureLog
  #waiting = 0
  readonly #stopping = new AbortController()
  readonly #cutting = new AbortController()

  constructor(options: DelivererOptions) {
    this.#options = options
    this.#failures = new FailureLog(options.log, options.clock)
  }

  /** A delivery was queued for this webhook. */
  wake(webhook: number): void {
    if (this.#stopping.signal.aborted || this.#elsewhere.has(webhook)) return
    const running = this.#runs.get(webhook)
    if (running !== undefined) {
      running.isAwake = true
      running.queue?.wake()
      return
    }
    const run: Run = { isAwake: true, queue: null, done: Promise.resolve() }
    this.#runs.set(webhook, run)
    run.done = this.#run(webhook, run)
  }

  /** Wakes webhooks with queued deliveries that no node is sending. */
  async poll(): Promise<void> {
    this.#elsewhere.clear()
    for (const webhook of await listDue(this.#options.sql)) this.wake(webhook)
  }

  /** The number of queued deliveries, of all nodes, at the last count. */
  get waiting(): number {
    return this.#waiting
  }

  /** Counts the queued deliveries, which is too costly for each request. */
  async count(): Promise<void> {
    this.#waiting = await countQueued(this.#options.sql)
  }

  /**
   * Starts no attempt any more, and resolves when running ones have ended and leases are returned. Attempts that last
   * longer than most of the deadline are aborted, and repeated by another node.
   */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping.abort()
    const spare = this.#options.clock.after(deadlineMs * 0.8, () => this.#cutting.abort())
    await Promise.all(Array.from(this.#runs.values(), run => run.done))
    spare()
  }

  async #run(webhook: number, run: Run): Promise<void> {
    const { log, ...parts } = this.#options
    const options = {
      ...parts,
      webhook,
      node: this.#node,
      stopping: this.#stopping.signal,
      cutting: this.#cutting.signal,
      observe: (outcome: Outcome) => {
        this.attempts[outcome.status]++
        if (outcome.status === 'failure') this.#failures.report(webhook, outcome)
      },
    }
    try {
      while (run.isAwake) {
        run.isAwake = false
        run.queue = new Queue(options)
        const end = await run.queue.drain()
        if (end === 'elsewhere') this.#elsewhere.add(webhook)
        if (end !== 'empty') return
      }
    } catch (error) {
      // Deliveries stay queued: the next poll finds them.
      log.warn({ webhook, error }, 'Deliveries were interrupted')
    } finally {
      this.#runs.delete(webhook)
    }
  }
}
