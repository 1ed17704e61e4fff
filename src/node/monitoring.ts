import { performance } from 'node:perf_hooks'
import { productVersion } from '../config/product-version.ts'
import { announceArrival } from '../engine/nodes/read-lease.ts'
import { withTimeout, type Clock } from '../lib/clock.ts'
import { readDisk } from '../monitoring/disk.ts'
import type { ReadFigures } from '../monitoring/figures.ts'
import { Monitor } from '../monitoring/monitor.ts'
import { listOthers } from '../monitoring/node-store.ts'
import type { Realtime } from '../realtime/realtime.ts'
import { SessionDirectory } from '../realtime/sessions/session-directory.ts'
import type { Notifications, Webhooks } from './after-commits.ts'
import type { Agents } from './agents.ts'
import type { Base } from './base.ts'
import type { Engine } from './engine.ts'
import type { Links } from './links.ts'
import type { Storage } from './storage.ts'

/** Time for the sample of a node that stops, out of what it has for all that is under way. A guess: it takes some ms. */
const lastSampleMs = 1_000

interface Watched extends Base, Storage, Engine, Links {
  realtime: Realtime
  webhooks: Webhooks
  notifications: Notifications
  agents: Agents
}

/**
 * What a node says of itself in the database and finds of the others: figures, jobs, and the sessions of all nodes.
 * Resolves when no other node holds a read lease that it was given before this node registered.
 */
export async function openMonitoring(parts: Watched): Promise<{ monitor: Monitor; liveSessions: SessionDirectory }> {
  const { config, node, sql, bus, apps, realtime, clock } = parts
  const monitor = new Monitor({
    id: node,
    sql,
    version: productVersion,
    beat: async () => ({
      sessions: realtime.figures.sessions,
      waiting: apps.waiting,
      rss: process.memoryUsage.rss(),
      disk: await readDisk(config.dataDir),
    }),
    read: figuresOf(parts),
    clock,
  })
  await monitor.arrive()
  if (bus.reachesOtherNodes) await announceArrival(await listOthers(sql, node), bus, node, clock)
  const liveSessions = new SessionDirectory({
    ...parts,
    otherNodes: () => monitor.otherNodes(),
    listHere: (filter, limit) => realtime.listSessions(filter, limit),
  })
  return { monitor, liveSessions }
}

/** Stores what was counted since the last sample, while there is still something to be seen. Without PostgreSQL it is lost. */
export async function storeLastSample(monitor: Monitor, clock: Clock): Promise<void> {
  const stored = monitor.sample().catch(() => {})
  await withTimeout(stored, { clock, timeoutMs: lastSampleMs, onTimeout: () => {} })
}

function figuresOf(parts: Watched): ReadFigures {
  const { metrics, apps, bus, replica, collisions, realtime, notifications } = parts
  const { notifier } = notifications
  const { deliverer } = parts.webhooks
  const { counts: runCounts } = parts.agents
  const readLoopLoad = watchLoop()
  return () => {
    const { sessions, hubSessions, users, topics } = realtime.figures
    const { rss, heapUsed, external } = process.memoryUsage()
    const commitTimes = metrics.commitTimes.sample()
    return {
      ...metrics.requests.sample(),
      commits: metrics.commits,
      commands: metrics.commands,
      collisions: collisions(),
      commit_p50_ms: commitTimes.p50Ms,
      commit_p99_ms: commitTimes.p99Ms,
      mailbox: apps.waiting,
      apps: apps.size,
      sessions,
      sessions_native: sessions - hubSessions,
      sessions_hub: hubSessions,
      users_connected: users,
      channels: topics,
      deliveries_success: deliverer.attempts.success,
      deliveries_failure: deliverer.attempts.failure,
      deliveries_queued: deliverer.waiting,
      background_waiting: notifier.waiting,
      background_lag_ms: notifier.lagSeconds * 1000,
      agent_runs_done: runCounts.totals.done,
      agent_runs_failed: runCounts.totals.failed,
      agent_runs_open: runCounts.open,
      agent_tokens_in: runCounts.totals.input,
      agent_tokens_out: runCounts.totals.output,
      bus_down: bus.reachesOtherNodes ? Number(!bus.isConnected) : Number.NaN,
      pool_waits: metrics.poolWaits.total,
      pool_wait_p99_ms: metrics.poolWaits.sample().p99Ms,
      replica_reads: replica?.reads ?? 0,
      loop_busy_percent: readLoopLoad(),
      cpu_seconds: cpuSeconds(),
      rss_bytes: rss,
      heap_bytes: heapUsed,
      external_bytes: external,
    }
  }
}

/** Of this process since it started. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000_000
}

/** How much of the time since the last call, in percent, this process had something to do. */
function watchLoop(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization * 100
  }
}
