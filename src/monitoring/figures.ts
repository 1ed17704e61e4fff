/**
 * The figures of charts. A sample of a counter is its growth within the minute; of a gauge its value at the end. Over
 * several nodes and minutes, counters are summed; gauges are summed over nodes and averaged over time, and for `worst`
 * ones the maximum counts.
 */
export const figures = {
  requests_2xx: 'counter',
  requests_3xx: 'counter',
  requests_4xx: 'counter',
  requests_5xx: 'counter',
  requests_429: 'counter',
  requests_503: 'counter',
  request_p50_ms: 'worst',
  request_p99_ms: 'worst',
  commits: 'counter',
  commands: 'counter',
  collisions: 'counter',
  commit_p50_ms: 'worst',
  commit_p99_ms: 'worst',
  mailbox: 'gauge',
  apps: 'gauge',
  sessions: 'gauge',
  sessions_native: 'gauge',
  sessions_hub: 'gauge',
  users_connected: 'gauge',
  channels: 'gauge',
  deliveries_success: 'counter',
  deliveries_failure: 'counter',
  deliveries_queued: 'worst',
  background_waiting: 'worst',
  background_lag_ms: 'worst',
  agent_runs_done: 'counter',
  agent_runs_failed: 'counter',
  agent_runs_open: 'worst',
  agent_tokens_in: 'counter',
  agent_tokens_out: 'counter',
  bus_down: 'worst',
  pool_waits: 'counter',
  pool_wait_p99_ms: 'worst',
  replica_reads: 'counter',
  database_bytes: 'worst',
  lag_ms: 'worst',
  loop_busy_percent: 'worst',
  cpu_seconds: 'counter',
  rss_bytes: 'gauge',
  heap_bytes: 'gauge',
  external_bytes: 'gauge',
} as const

export type FigureName = keyof typeof figures
export const figureNames = Object.keys(figures) as [FigureName, ...FigureName[]]

/** The figures that a node knows itself; the size of the database comes from the database. */
export type NodeFigureName = Exclude<FigureName, 'database_bytes'>

/** Reads the current figures of a node, but for its lag: counters since its start; NaN for unknown values. */
export type ReadFigures = () => Omit<Record<NodeFigureName, number>, 'lag_ms'>
