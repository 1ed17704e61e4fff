import { randomUUID } from 'node:crypto'
import type { Log } from '../../../lib/log.ts'
import { FailureLog } from './failure-log.ts'
import { Queue, type QueueParts } from './queue.ts'
import { countQueued, listDue, type Outcome } from './store.ts'

export interface DelivererOptions extends QueueParts {
  log: Log
}

/** A queue being drained. */
interface Run {
  /** Something was queued after the run last looked. */
  isAwake: boolean
  queue: Queue | null
  done: Promise<void>
}

/**
 * Sends what is queued for webhooks: for each webhook from one node at a time, in event order, some attempts of different
 * apps side by side; any number of webhooks at once. Made by main, woken by what this node commits (`wake`), and by `poll` about once a second
 * for what other nodes wrote or left behind. It cannot be too busy: what is to be sent waits in the database.
 *
 * If the process dies in the middle of an attempt, or cannot file its outcome, the delivery is sent again under the
 * same guid, with a payload made anew, when the lease has run out: at least once. Otherwise each is sent once, whatever
 * comes of it.
 */
export class Deliverer {
  readonly #options: DelivererOptions
  readonly #node = randomUUID()
  readonly #runs = new Map<number, Run>()
  /** Not this node's to deliver for, as far as it knows: commits need not ask again before the next look. */
  readonly #elsewhere = new Set<number>()
  readonly #attempts = { success: 0, failure: 0 }
  readonly #failures: FailureLog
  #waiting = 0
  readonly #stopping = new AbortController()
  readonly #cutting = new AbortController()

  constructor(options: DelivererOptions) {
    this.#options = options
    this.#failures = new FailureLog(options.log, options.clock)
  }

  /** Something was queued for this webhook. */
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

  /** Wakes the webhooks with something queued that no node is delivering for. */
  async poll(): Promise<void> {
    this.#elsewhere.clear()
    for (const webhook of await listDue(this.#options.sql)) this.wake(webhook)
  }

  /** Attempts that this node has made, by outcome. */
  get attempts(): Record<Outcome['status'], number> {
    return this.#attempts
  }

  /** How many deliveries waited, for all nodes, when they were last counted. */
  get waiting(): number {
    return this.#waiting
  }

  /** Counts what waits: too much work to be done whenever somebody asks. */
  async count(): Promise<void> {
    this.#waiting = await countQueued(this.#options.sql)
  }

  /**
   * Starts nothing more, and resolves when what is in flight has ended and the leases are returned. What has not
   * ended within most of the deadline is cut, counts for nothing, and is sent again by whoever comes next.
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
        this.#attempts[outcome.status]++
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
      // What is queued stays queued: the next look finds it.
      log.warn({ webhook, error }, 'Deliveries were interrupted')
    } finally {
      this.#runs.delete(webhook)
    }
  }
}
