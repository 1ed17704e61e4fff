import type { RequestDurations } from './durations.ts'

/** What requests were like since the last look: how many by the class of their status, in all; and how long they took. */
export interface RequestFigures {
  requests_2xx: number
  requests_3xx: number
  requests_4xx: number
  requests_5xx: number
  /** Of those since the last look; not a number where there were none. */
  request_p50_ms: number
  request_p99_ms: number
}

/** Looks at the durations of requests now and then. Of a duration it is known between which bounds it was. */
export class RequestWindow {
  readonly #requests: RequestDurations
  #last: number[] = []

  constructor(requests: RequestDurations) {
    this.#requests = requests
  }

  look(): RequestFigures {
    const { byClass, counts, boundsSeconds } = this.#requests.totals()
    const since = counts.map((count, i) => count - (this.#last[i] ?? 0))
    this.#last = counts
    return {
      requests_2xx: byClass[2] ?? 0,
      requests_3xx: byClass[3] ?? 0,
      requests_4xx: byClass[4] ?? 0,
      requests_5xx: byClass[5] ?? 0,
      request_p50_ms: quantileMs(since, boundsSeconds, 0.5),
      request_p99_ms: quantileMs(since, boundsSeconds, 0.99),
    }
  }
}

/** The upper bound of the bucket in which the quantile is; of those above all bounds the last one. */
function quantileMs(counts: readonly number[], boundsSeconds: readonly number[], quantile: number): number {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return Number.NaN
  let below = 0
  const at = counts.findIndex(count => (below += count) >= quantile * total)
  return 1000 * (boundsSeconds[at] ?? boundsSeconds.at(-1)!)
}
