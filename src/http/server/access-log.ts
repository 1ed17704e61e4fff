import type { Log } from '../../lib/log.ts'
import type { Exchange } from './exchange.ts'

/** `sampled`: every failure of the server, and one in a hundred of all other requests. */
export type AccessLogging = 'off' | 'sampled' | 'all'

const sampledOneIn = 100

/**
 * Writes a line for each finished request. It has the route's template instead of the path, because paths name people,
 * and no query, because queries contain what people search for.
 */
export class AccessLog {
  readonly #log: Log
  readonly #oneIn: number
  #count = 0

  constructor(logging: Exclude<AccessLogging, 'off'>, log: Log) {
    this.#log = log
    this.#oneIn = logging === 'all' ? 1 : sampledOneIn
  }

  add({ id, method, durations, startedAt }: Exchange, status: number): void {
    if (++this.#count % this.#oneIn !== 0 && status < 500) return
    const ms = Math.round((performance.now() - startedAt) * 100) / 100
    this.#log.info({ request_id: id, method, route: durations?.route ?? '', status, ms }, 'Request')
  }
}
