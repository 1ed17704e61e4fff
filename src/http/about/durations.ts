/** Upper bounds in seconds. Most requests take less than a millisecond; connections give up after ten seconds. */
const boundsSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface Series {
  /** Observations in each bucket (not cumulative); the last is above all bounds. */
  counts: number[]
  sumSeconds: number
}

/** A histogram of one route's request durations, by status. */
export class RouteDurations {
  readonly method: string
  readonly route: string
  readonly byStatus = new Map<number, Series>()

  constructor(method: string, route: string) {
    this.method = method
    this.route = route
  }

  observe(status: number, seconds: number): void {
    let series = this.byStatus.get(status)
    if (series === undefined) {
      series = { counts: emptyBuckets(boundsSeconds), sumSeconds: 0 }
      this.byStatus.set(status, series)
    }
    series.counts[bucketOf(seconds, boundsSeconds)]!++
    series.sumSeconds += seconds
  }

  /** The lines of Prometheus's text format, each ending with a line feed. */
  text(name: string): string {
    let text = ''
    for (const [status, { counts, sumSeconds }] of this.byStatus) {
      const labels = `method="${this.method}",route="${this.route}",status="${status}"`
      let total = 0
      for (const [i, count] of counts.entries()) {
        total += count
        text += `${name}_bucket{${labels},le="${boundsSeconds[i] ?? '+Inf'}"} ${total}\n`
      }
      text += `${name}_sum{${labels}} ${sumSeconds}\n${name}_count{${labels}} ${total}\n`
    }
    return text
  }
}

/**
 * The histogram of request durations, for Prometheus. Each route looks up its counters once, so an observation costs 20
 * ns; prom-client's histogram hashes the labels each time, which takes a hundred times as long.
 */
export class RequestDurations {
  readonly #routes: RouteDurations[] = []
  /** The buckets of all requests at the last sample. */
  #sampled = emptyBuckets(boundsSeconds)

  /** The counters of one route; `route` is its path template. */
  of(method: string, route: string): RouteDurations {
    const durations = new RouteDurations(method, route)
    this.#routes.push(durations)
    return durations
  }

  /** Requests so far by the class of their status, and durations since the last sample: NaN without requests. */
  sample() {
    const byClass = [0, 0, 0, 0, 0, 0]
    const byStatus = new Map<number, number>()
    const counts = emptyBuckets(boundsSeconds)
    for (const [status, { counts: own }] of this.#routes.flatMap(route => [...route.byStatus])) {
      let ofStatus = 0
      for (const [i, count] of own.entries()) {
        counts[i]! += count
        ofStatus += count
      }
      byClass[Math.floor(status / 100)]! += ofStatus
      byStatus.set(status, (byStatus.get(status) ?? 0) + ofStatus)
    }
    const sampled = this.#sampled
    this.#sampled = counts
    const since = counts.map((count, i) => count - sampled[i]!)
    return {
      requests_2xx: byClass[2]!,
      requests_3xx: byClass[3]!,
      requests_4xx: byClass[4]!,
      requests_5xx: byClass[5]!,
      requests_429: byStatus.get(429) ?? 0,
      requests_503: byStatus.get(503) ?? 0,
      request_p50_ms: 1000 * quantileOf(since, boundsSeconds, 0.5),
      request_p99_ms: 1000 * quantileOf(since, boundsSeconds, 0.99),
    }
  }

  text(): string {
    const name = 'http_request_duration_seconds'
    const lines = this.#routes.map(route => route.text(name)).join('')
    return `# HELP ${name} Time from the head of a request to its answer.\n# TYPE ${name} histogram\n${lines}`
  }
}

/** One bucket for each bound, and the one above all. */
function emptyBuckets(bounds: readonly number[]): number[] {
  return bounds.map(() => 0).concat(0)
}

/** The first bucket whose bound is not exceeded; the one after the last where all are. */
function bucketOf(seconds: number, bounds: readonly number[]): number {
  let at = 0
  while (at < bounds.length && seconds > bounds[at]!) at++
  return at
}

/**
 * The upper bound of the bucket that contains a quantile; the last bound for values above all bounds; NaN without
 * values.
 */
function quantileOf(counts: readonly number[], bounds: readonly number[], quantile: number): number {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return Number.NaN
  let below = 0
  const at = counts.findIndex(count => (below += count) >= quantile * total)
  return bounds[at] ?? bounds.at(-1)!
}

/** A histogram of durations since the last sample, with bucket precision, beside `lasting` for all of them. */
export class DurationWindow {
  readonly #boundsSeconds: readonly number[]
  #counts: number[]
  #total = 0
  readonly #lasting: { observe(seconds: number): void } | undefined

  constructor(boundsSeconds: readonly number[], lasting?: { observe(seconds: number): void }) {
    this.#boundsSeconds = boundsSeconds
    this.#lasting = lasting
    this.#counts = emptyBuckets(boundsSeconds)
  }

  /** The number of durations ever observed. */
  get total(): number {
    return this.#total
  }

  observe(seconds: number): void {
    this.#counts[bucketOf(seconds, this.#boundsSeconds)]!++
    this.#total++
    this.#lasting?.observe(seconds)
  }

  /** The median and the 99th percentile in milliseconds since the last sample; NaN without observations. */
  sample(): { p50Ms: number; p99Ms: number } {
    const counts = this.#counts
    this.#counts = emptyBuckets(this.#boundsSeconds)
    const quantileMs = (quantile: number) => quantileOf(counts, this.#boundsSeconds, quantile) * 1000
    return { p50Ms: quantileMs(0.5), p99Ms: quantileMs(0.99) }
  }
}
