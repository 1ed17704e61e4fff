/**
 * The upper bound of the bucket that contains a quantile; the last bound for values above all bounds; NaN without
 * values.
 */
export function quantileOf(counts: readonly number[], bounds: readonly number[], quantile: number): number {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return Number.NaN
  let below = 0
  const at = counts.findIndex(count => (below += count) >= quantile * total)
  return bounds[at] ?? bounds.at(-1)!
}

/** A histogram of durations since the last sample, with bucket precision. An observation costs some nanoseconds. */
export class DurationWindow {
  readonly #boundsSeconds: readonly number[]
  #counts: number[]
  #total = 0

  constructor(boundsSeconds: readonly number[]) {
    this.#boundsSeconds = boundsSeconds
    this.#counts = boundsSeconds.map(() => 0).concat(0)
  }

  /** The number of durations ever observed. */
  get total(): number {
    return this.#total
  }

  observe(seconds: number): void {
    let at = 0
    while (at < this.#boundsSeconds.length && seconds > this.#boundsSeconds[at]!) at++
    this.#counts[at]!++
    this.#total++
  }

  /** The median and the 99th percentile in milliseconds since the last sample; NaN without observations. */
  sample(): { p50Ms: number; p99Ms: number } {
    const counts = this.#counts
    this.#counts = counts.map(() => 0)
    const quantileMs = (quantile: number) => quantileOf(counts, this.#boundsSeconds, quantile) * 1000
    return { p50Ms: quantileMs(0.5), p99Ms: quantileMs(0.99) }
  }
}
