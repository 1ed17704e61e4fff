/** What is kept of many latencies, in milliseconds. */
export interface Latencies {
  count: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
  maxMs: number
}

export function summarise(latenciesMs: number[]): Latencies {
  const sorted = Float64Array.from(latenciesMs).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { count: sorted.length, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99), maxMs: at(1) }
}
