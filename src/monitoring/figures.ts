/**
 * What charts are drawn of. Of a counter a sample is how much it grew in the minute; of a gauge what it was at the end of
 * it. Over several nodes and minutes, counters are added up; gauges are added up over nodes and averaged over time, and of
 * those that are `worst` the largest counts.
 */
export const figures = {
  requests_2xx: 'counter',
  requests_3xx: 'counter',
  requests_4xx: 'counter',
  requests_5xx: 'counter',
  request_p50_ms: 'worst',
  request_p99_ms: 'worst',
  commits: 'counter',
  commands: 'counter',
  collisions: 'counter',
  mailbox: 'gauge',
  apps: 'gauge',
  sessions: 'gauge',
  channels: 'gauge',
  deliveries_success: 'counter',
  deliveries_failure: 'counter',
  deliveries_queued: 'worst',
  lag_ms: 'worst',
  cpu_seconds: 'counter',
  rss_bytes: 'gauge',
  heap_bytes: 'gauge',
} as const

export type FigureName = keyof typeof figures
export const figureNames = Object.keys(figures) as [FigureName, ...FigureName[]]

/** Reads the figures of a node, as they are: of counters the total since its start. */
export type ReadFigures = () => Record<FigureName, number>
