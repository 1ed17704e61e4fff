import { Apps } from '../../src/engine/apps.ts'
import { OtherNodes } from '../../src/engine/nodes/other-nodes.ts'
import { SharedLog } from '../../src/log/shared-log.ts'
import { CommitConnection, lockWaitMs } from '../../src/engine/commit/connection.ts'
import { UserCache } from '../../src/auth/user-cache.ts'
import { deletedUser, systemUser } from '../../src/auth/principal.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { toBacklog } from '../../src/resources/notifications/processing/consumer.ts'
import { eventTypes, recent } from '../../src/resources/index.ts'
import { followWithSubscriptions } from '../../src/resources/subscriptions/automatic.ts'
import { openConnection, openSql, type Sql } from '../../src/postgres/sql.ts'

interface ActorsOptions {
  now?: () => Date
  memoryBytes?: number
  /** For reading. */
  connections?: number
  /** Of each step of a commit. */
  statementTimeoutMs?: number
  /** Where commits go; the database, unless it is to be away for them. */
  commitUrl?: string
  /** How long a read marker waits for another commit. */
  sharingMs?: number
}

export interface Actors extends AsyncDisposable {
  apps: Apps
  sharedLog: SharedLog
  otherNodes: OtherNodes
  /** What it reads with. */
  sql: Sql
  /** How many commands each commit carried so far. */
  commits: number[]
  /** Commits that were decided again, because others had written. */
  collisions: () => number
}

/** The actors of one more node on a database: for what a node does in the background, without waiting for its hour. */
export async function openActors(
  url: string,
  {
    now = () => new Date(),
    memoryBytes = 64 * 1024 * 1024,
    connections = 2,
    statementTimeoutMs = 10_000,
    commitUrl = url,
    sharingMs = 10,
  }: ActorsOptions = {},
): Promise<Actors> {
  const sql = openSql({ url, connections, statementTimeoutMs: 10_000 })
  const openCommits = () => openConnection({ url: commitUrl, statementTimeoutMs, lockTimeoutMs: lockWaitMs })
  const sharedLog = new SharedLog(sql)
  await sharedLog.start()
  const userCache = new UserCache(sql)
  userCache.follow(sharedLog)
  await userCache.load([systemUser, deletedUser])
  const commits: number[] = []
  const commitConnections = [1, 2].map(() => new CommitConnection({ open: openCommits, deadlineMs: 10_000 }))
  const otherNodes = new OtherNodes(() => performance.now())
  const apps = new Apps({
    sql,
    sharedLog,
    userCache,
    events: eventTypes,
    projections: [followWithSubscriptions, toBacklog],
    recent,
    groupConnections: commitConnections.slice(1),
    apartConnections: commitConnections.slice(0, 1),
    flushLimit: 100,
    sharingMs,
    mailboxLimit: 100,
    totalLimit: 1_000,
    otherNodes,
    isShared: () => false,
    memoryBytes,
    observe: count => commits.push(count),
    observeTime: () => {},
    now,
    clock: systemClock,
    log: createLog('error'),
  })
  return {
    apps,
    otherNodes,
    sharedLog,
    sql,
    commits,
    collisions: () => commitConnections.reduce((sum, connection) => sum + connection.collisions, 0),
    async [Symbol.asyncDispose]() {
      await apps.idle()
      await Promise.all([sql.end({ timeout: 1 }), ...commitConnections.map(connection => connection.close())])
    },
  }
}
