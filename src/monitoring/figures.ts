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
  requests_429: 'counter',
  requests_503: 'counter',
  request_p50_ms: 'worst',
  request_p99_ms: 'worst',
  commits: 'counter',
  commands: 'counter',
  collisions: 'counter',
  commit_p50_ms: 'worst',
  commit_p99_ms: 'worst',
  commands_forwarded: 'counter',
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
  notification_terms_waiting: 'worst',
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

/** What a node knows of itself; the size of the database is asked of the database. */
export type NodeFigureName = Exclude<FigureName, 'database_bytes'>

/** Reads the figures of a node, as they are: of counters the total since its start. NaN stands for what is not known. */
export type ReadFigures = () => Record<NodeFigureName, number>
