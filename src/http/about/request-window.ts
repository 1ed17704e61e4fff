import { quantileOf } from './durations.ts'
import type { RequestDurations } from './durations.ts'

/** Figures of requests: totals by the class of their status, and durations since the last sample. */
export interface RequestFigures {
  requests_2xx: number
  requests_3xx: number
  requests_4xx: number
  requests_5xx: number
  requests_429: number
  requests_503: number
  /** Since the last sample; NaN without requests. */
  request_p50_ms: number
  request_p99_ms: number
}

/** Samples the durations of requests, with bucket precision. */
export class RequestWindow {
  readonly #requests: RequestDurations
  #last: number[] = []

  constructor(requests: RequestDurations) {
    this.#requests = requests
  }

  sample(): RequestFigures {
    const { byClass, byStatus, counts, boundsSeconds } = this.#requests.totals()
    const since = counts.map((count, i) => count - (this.#last[i] ?? 0))
    this.#last = counts
    return {
      requests_2xx: byClass[2] ?? 0,
      requests_3xx: byClass[3] ?? 0,
      requests_4xx: byClass[4] ?? 0,
      requests_5xx: byClass[5] ?? 0,
      requests_429: byStatus.get(429) ?? 0,
      requests_503: byStatus.get(503) ?? 0,
      request_p50_ms: 1000 * quantileOf(since, boundsSeconds, 0.5),
      request_p99_ms: 1000 * quantileOf(since, boundsSeconds, 0.99),
    }
  }
}
