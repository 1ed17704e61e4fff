import { toRunSettings } from '../config/part-options.ts'
import { lookAtCommits, type CommitLook } from '../jobs/commit-look.ts'
import { startJobs, type Job } from '../jobs/jobs.ts'
import { earlierTime, storageJobs } from '../jobs/storage-jobs.ts'
import { anyHistory } from '../log/epoch.ts'
import { sharedRev } from '../log/shared-log.ts'
import type { Monitor } from '../monitoring/monitor.ts'
import type { Realtime } from '../realtime/realtime.ts'
import { forgetSessions } from '../resources/admin/sign-in/sessions.ts'
import { agentRunJobs } from '../resources/agents/runs/start.ts'
import { resources } from '../resources/index.ts'
import { notificationJobs } from '../resources/notifications/jobs.ts'
import { anyChange } from '../resources/notifications/store.ts'
import { sealJob } from '../resources/seals.ts'
import { deliveryJobs } from '../resources/webhooks/delivery.ts'
import type { Notifications, Webhooks } from './after-commits.ts'
import type { Agents } from './agents.ts'
import type { Base } from './base.ts'
import type { Engine } from './engine.ts'
import type { Files } from './files.ts'
import type { SharedState } from './shared-state.ts'
import type { Storage } from './storage.ts'

interface JobSources extends Base, Storage, SharedState, Engine, Files {
  realtime: Realtime
  webhooks: Webhooks
  notifications: Notifications
  agents: Agents
  monitor: Monitor
}

/** Starts all that comes round, when everything that it uses is there. */
export function startAllJobs(parts: JobSources): void {
  const { monitor, teardown } = parts
  const stopping = new AbortController()
  const ended = startJobs([...lasting(parts), ...looks(parts), ...monitor.jobs], {
    ...parts,
    signal: stopping.signal,
    onTurn: monitor.onTurn,
    look: asked => lookAndRenewLease(parts, asked),
  })
  teardown.add('jobs', async () => {
    stopping.abort()
    await ended()
  })
}

/** Looks at what was committed. Where there is no other node, renews the lease of this one. */
async function lookAndRenewLease({ node, sql, readLease }: JobSources, asked: readonly string[]): Promise<CommitLook> {
  const askedAtMs = performance.now()
  const found = await lookAtCommits(sql, { node, asked })
  if (!found.hasOthers) readLease.renew(askedAtMs)
  return found
}

/** What the parts need to be done. */
function lasting(parts: JobSources): Job[] {
  const { config, sql, now, webhooks, notifications, agents } = parts
  const { trashDays, eventDays, auditDays } = config
  const past = () => earlierTime(sql, now())
  return [
    ...storageJobs(sql, { eventDays, auditDays }, now),
    ...deliveryJobs({ ...parts, ...webhooks, past }),
    ...notificationJobs({ ...parts, ...notifications, past, perUser: config.notificationsPerUser }),
    ...parts.keyJobs,
    ...agents.indexer.jobs,
    ...agentRunJobs({ ...parts, ...agents, settings: toRunSettings(config), past }),
    ...resources.flatMap(({ jobs }) => jobs?.({ ...parts, trashDays, past }) ?? []),
    sealJob(parts),
    { name: 'forget sessions of administration', periodMs: 600_000, run: () => forgetSessions(sql, now()) },
  ]
}

/** What finds what other nodes did, and what the bus has lost. */
function looks({ epoch, sql, sharedLog, apps, realtime, notifications }: JobSources): Job[] {
  return [
    {
      name: 'look whether the database has another history',
      periodMs: 1_000,
      dueWith: anyHistory,
      run: () => epoch.look(sql),
    },
    { name: 'look for users, keys and webhooks', periodMs: 1_000, dueWith: sharedRev, run: () => sharedLog.poll() },
    {
      name: 'look for what other nodes committed',
      periodMs: 1_000,
      dueWhere: 'true',
      isOfOthers: true,
      run: () => apps.remoteCommits.poll(),
    },
    {
      name: 'look for news of apps that are not in memory',
      periodMs: 1_000,
      dueWhere: 'true',
      isOfOthers: true,
      run: () => realtime.poll(),
    },
    {
      name: 'look for notifications to be told of',
      periodMs: 1_000,
      dueWith: anyChange,
      run: () => notifications.feed.poll(),
    },
  ]
}
