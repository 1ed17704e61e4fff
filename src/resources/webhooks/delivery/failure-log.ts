import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { Outcome } from './store.ts'

/** How often failures of one webhook are logged: an unreachable receiver fails fifty times a second. A guess. */
const periodMs = 10_000

/** The most webhooks that are tracked; beyond, all are logged anew. */
const webhookLimit = 10_000

/** Logs failed deliveries: of each webhook the first one at once, then their number from time to time. */
export class FailureLog {
  readonly #log: Log
  readonly #clock: Clock
  readonly #told = new Map<number, { atMs: number; untold: number }>()

  constructor(log: Log, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  report(webhook: number, { request, response, status_code, duration_ms }: Outcome): void {
    const now = this.#clock.now()
    const last = this.#told.get(webhook)
    if (last !== undefined && Math.abs(now - last.atMs) < periodMs) {
      last.untold++
      return
    }
    const delivery = request?.headers['X-Service-Delivery']
    const facts = { webhook, delivery, code: status_code, reason: response.error, ms: Math.round(duration_ms) }
    this.#log.warn({ ...facts, failures: (last?.untold ?? 0) + 1 }, 'A delivery has failed')
    if (this.#told.size >= webhookLimit) this.#told.clear()
    this.#told.set(webhook, { atMs: now, untold: 0 })
  }
}
