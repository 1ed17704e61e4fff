import './require-runtime.ts'
import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { Apps } from './engine/apps.ts'
import { broadcastChanges, type MovedListener } from './engine/nodes/change-broadcast.ts'
import { GlobalCommands } from './engine/global-commands.ts'
import { SharedLog, findDeployment, sharedRev } from './log/shared-log.ts'
import { openCommitConnection, type CommitConnection } from './engine/commit/connection.ts'
import { Forwarding } from './engine/nodes/forwarding.ts'
import { LastWriters } from './engine/nodes/last-writers.ts'
import { OtherNodes } from './engine/nodes/other-nodes.ts'
import { UserCache } from './auth/user-cache.ts'
import { Presence } from './presence/presence.ts'
import { gossipPresence } from './presence/presence-gossip.ts'
import { deletedUser, systemUser } from './auth/principal.ts'
import { Typing } from './engine/typing.ts'
import { LocalBus } from './cluster/bus-local.ts'
import { RedisBus } from './cluster/bus-redis.ts'
import { describeSettings, readConfig, readEnvironment, readEnvironmentFile, type Config } from './config/config.ts'
import { AdminSessions, forgetSessions } from './resources/admin/sign-in/sessions.ts'
import { LoginThrottle } from './auth/login-throttle.ts'
import { authenticate } from './auth/authentication.ts'
import { Credentials } from './auth/credentials.ts'
import { OutboundQuota } from './http/request/outbound-quota.ts'
import { ensureKey } from './resources/keys/first-key.ts'
import { Metrics } from './http/about/metrics.ts'
import { RequestWindow } from './http/about/request-window.ts'
import { serve } from './http/route.ts'
import { createHttpServer } from './http/server/server.ts'
import { systemClock } from './lib/clock.ts'
import { runAsProcess, type Running } from './lib/process/lifetime.ts'
import { createLog, type Log } from './lib/log.ts'
import { Teardown } from './lib/process/teardown.ts'
import { Vault } from './lib/vault.ts'
import { readDisk } from './monitoring/disk.ts'
import { Monitor } from './monitoring/monitor.ts'
import type { Traces } from './monitoring/traces.ts'
import { openProviders } from './agents/providers/table.ts'
import type { Bus } from './cluster/bus.ts'
import { openOutside } from './egress/outside.ts'
import { Realtime } from './realtime/realtime.ts'
import { path as hubPath } from './realtime/protocols/signalr/endpoint.ts'
import { path as realtimePath } from './realtime/protocols/native/endpoint.ts'
import { anyOrigin } from './realtime/protocols/protocol.ts'
import { SessionDirectory } from './realtime/sessions/session-directory.ts'
import { ensureAssistant } from './resources/agents/assistant.ts'
import { KnownAgents } from './resources/agents/runs/known-agents.ts'
import { MaterialReader } from './resources/agents/runs/prompts/materials.ts'
import { AgentTools } from './resources/agents/tools.ts'
import { Indexer } from './resources/agents/knowledge/indexer.ts'
import { PassageSearch } from './resources/agents/knowledge/search.ts'
import { RunCounts } from './resources/agents/runs/counts.ts'
import { RunFrames } from './resources/agents/runs/prompts/frames.ts'
import { agentRunJobs, startRunner } from './resources/agents/runs/start.ts'
import { Triggers } from './resources/agents/runs/triggers.ts'
import { isRemovable } from './resources/apps/kinds.ts'
import { isListed, isUnread } from './resources/apps/own/unread.ts'
import { eventTypes as events, forwardedCommands, recent, resources } from './resources/index.ts'
import { canRead } from './resources/apps/members/access.ts'
import { notificationJobs } from './resources/notifications/jobs.ts'
import { Notifier, toNotifiable } from './resources/notifications/following/consumer.ts'
import { Feed } from './resources/notifications/following/feed.ts'
import { anyChange } from './resources/notifications/store.ts'
import { requireKeys, sealJob } from './resources/seals.ts'
import type { Services } from './resources/route.ts'
import { followWithSubscriptions } from './resources/subscriptions/automatic.ts'
import { lookAmong } from './resources/users/lists/online.ts'
import { actorOf } from './resources/users/represent.ts'
import { Registrations } from './resources/webhooks/consumer.ts'
import { deliveryJobs, startDelivery } from './resources/webhooks/delivery.ts'
import {
  toAssistantSettings,
  toBytesSettings,
  toDeliverySettings,
  toHttpServerSettings,
  toOutsideSettings,
  toProviderSettings,
  toRealtimeSettings,
  toRunSettings,
  toToolSettings,
  toTraceSettings,
} from './config/part-options.ts'
import { requireFolderOfDatabase } from './bytes/blob-folder.ts'
import { openBytes } from './bytes/bytes-open.ts'
import { prepareDatabase } from './postgres/database.ts'
import { lookAtCommits } from './jobs/commit-look.ts'
import { earlierTime, prepareEvents, storageJobs } from './jobs/storage-jobs.ts'
import { startJobs, type Job } from './jobs/jobs.ts'
import { migrate } from './postgres/migrate.ts'
import { Previews } from './media/previews.ts'
import { Renditions } from './media/renditions.ts'
import { Replica } from './postgres/replica.ts'
import { backgroundIdleInTransactionMs, openSql, type Sql } from './postgres/sql.ts'

export interface Node extends Running {
  /** Where it listens. */
  url: string
  /** The API key, if one was made at this start. It is not known at any other time. */
  apiKey: string | null
  /** Where owners sign in, see docs/administration.md; null where that is turned off. */
  adminUrl: string | null
}

/** What makes previews: a file that is run and never imported. */
const previewThread = new URL('resources/files/content/preview-thread.ts', import.meta.url)

/** Commits of contended apps, and of commands that read rows first, run beside the group commits: so many at a time. A guess. */
const commitsApart = 2

/** Commands in one commit. A guess: beyond it, those who came first would wait for those who came last. */
const flushLimit = 1000

/**
 * How long a read marker waits to share the commit of a message. With 200 messages and as many markers a second, most find
 * one, and a marker that moves so much later is not seen to. A guess.
 */
const sharingMs = 10

/** Time for the sample of a node that stops, out of what it has for all that is under way. A guess: it takes some ms. */
const lastSampleMs = 1_000

/** Pages that are looked at for one user, as the API says, and for all together: each holds a connection. A guess. */
const errandsPerMinute = 60
const errandsAtOnce = 200

/**
 * Starts one node: everything in the order in which it is needed, the edge last; `stop` ends it the other way round,
 * within the configured time. Rejects with a StartFault where somebody can put it right.
 */
export async function startNode(config: Config): Promise<Node> {
  const log = createLog(config.logLevel)
  const clock = systemClock
  const now = () => new Date(clock.now())
  const failed = Promise.withResolvers<Error>()
  const node = randomUUID()
  const teardown = new Teardown(log)
  const stop = () => teardown.run(config.drainSeconds * 1000)
  teardown.add('log', () => log.info({}, 'The node has stopped'))

  try {
    const metrics = new Metrics()
    metrics.version(config.version)

    const tracer = await openTraces(config, node, log)
    if (tracer !== null) teardown.add('traces', () => tracer.close())

    // The database, and its schema.
    const url = await prepareDatabase({
      url: config.databaseUrl,
      dataDir: config.dataDir,
      connections: config.databaseConnections + config.commitLanes + commitsApart,
      log,
      teardown,
      onLost: failed.resolve,
    })
    const sql = openSql({
      url,
      connections: config.databaseConnections,
      statementTimeoutMs: config.statementSeconds * 1000,
      idleTimeoutMs: backgroundIdleInTransactionMs,
      waited: ms => metrics.observePoolWait(ms),
    })
    teardown.add('connections', () => sql.end({ timeout: 5 }))
    await migrate(sql, log)
    await prepareEvents(sql, now())
    const vault = new Vault(config.secretKeys)
    await requireKeys(sql, vault)
    if (!vault.isLocked)
      log.warn({}, 'SECRET_KEYS is not set: headers of agents and secrets of webhooks are stored in clear')

    const replica =
      config.replicaUrl === null
        ? null
        : new Replica({
            primary: sql,
            url: config.replicaUrl.reveal(),
            connections: config.databaseConnections,
            statementTimeoutMs: config.statementSeconds * 1000,
            log,
          })
    if (replica !== null) teardown.add('replica', () => replica.close())

    // What belongs to no app, and the caches that follow it.
    const sharedLog = new SharedLog(sql)
    await sharedLog.start()
    const userCache = new UserCache(sql)
    await userCache.follow(sharedLog)
    await userCache.load([systemUser, deletedUser])
    const credentials = new Credentials(sql, sharedLog, now)
    const globalCommands = new GlobalCommands(sql, sharedLog, now, vault)
    const adminSessions = new AdminSessions({ sql, globalCommands, sharedLog, now })
    const registrations = new Registrations(sql)
    await registrations.follow(sharedLog)
    const agents = new KnownAgents(sql)
    await agents.follow(sharedLog)
    const triggers = new Triggers({ agents, userCache })

    // The actors, and the connections that they commit on.
    const connections = Array.from({ length: config.commitLanes + commitsApart }, () => openCommitConnection(url))
    teardown.add('commit connections', () => closeAll(connections))
    const otherNodes = new OtherNodes(() => performance.now())
    const apps = new Apps({
      sql,
      sharedLog,
      userCache,
      events,
      projections: [
        event => registrations.toDeliveries(event),
        followWithSubscriptions,
        toNotifiable,
        (event, state) => triggers.toWrites(event, state),
      ],
      recent,
      groupConnections: connections.slice(commitsApart),
      apartConnections: connections.slice(0, commitsApart),
      flushLimit,
      sharingMs,
      mailboxLimit: config.mailboxLimit,
      totalLimit: config.mailboxTotal,
      otherNodes,
      isShared: config.redisUrl !== null,
      memoryBytes: config.actorMemoryMb * 1024 * 1024,
      observe: commands => metrics.observeCommit(commands),
      observeTime: ms => metrics.observeCommitTime(ms),
      tracer,
      now,
      log,
    })
    globalCommands.onAppMade(made => apps.adopt(made))
    teardown.add('mailboxes', () => apps.idle())
    metrics.gauge('parley_mailbox_commands', 'Commands that wait or are being committed.', () => apps.waiting)
    const collisions = () => connections.reduce((sum, { collisions }) => sum + collisions, 0)
    metrics.counter(
      'parley_commit_conflicts_total',
      'Commits that were decided again, because others had written.',
      collisions,
    )
    metrics.counter('parley_replica_reads_total', 'Reads that the replica has answered.', () => replica?.reads ?? 0)
    metrics.gauge('parley_apps', 'Apps in memory.', () => apps.size)
    const typing = new Typing(clock)
    const presence = new Presence({ seen: credentials.seenAt, clock })
    apps.onCommit(({ events }) => typing.onCommit(events))

    // What nodes tell each other. Without Redis they look for it themselves, below.
    const bus = await openBus(config, sql, log)
    let forwarding: Forwarding | null = null
    let onMoved: (listener: MovedListener) => void = () => {}
    teardown.add('bus', () => bus.close())
    if (bus.reachesOtherNodes) {
      metrics.gauge('parley_bus_connected', 'Whether Redis can be used: 1 or 0.', () => (bus.isConnected ? 1 : 0))
      const talking = new AbortController()
      teardown.add('news', () => talking.abort())
      const lastWriters = new LastWriters(node, () => performance.now())
      const elsewhere = new Forwarding({ bus, node, apps, lastWriters, commands: forwardedCommands, clock })
      forwarding = elsewhere
      apps.forwardTo(elsewhere)
      teardown.add('commands of other nodes', () => elsewhere.stop())
      metrics.counter(
        'parley_commands_forwarded_total',
        'Commands that were sent to another node.',
        () => elsewhere.forwarded,
      )
      onMoved = broadcastChanges({
        bus,
        node,
        apps,
        lastWriters,
        otherNodes,
        globalCommands,
        sharedLog,
        events,
        typing,
        clock,
        log,
        signal: talking.signal,
      })
      gossipPresence({ bus, presence, clock, signal: talking.signal })
    }

    // Where uploads are kept, and what is made of them.
    const bytesSettings = toBytesSettings(config)
    if (bytesSettings.s3 === null) await requireFolderOfDatabase(sql, bytesSettings.folder)
    const bytes = await openBytes(bytesSettings)
    const renditions = new Renditions(bytes)
    teardown.add('pictures', async () => renditions.stop())
    const previews = new Previews(previewThread, log)
    teardown.add('previews', () => previews.close())
    const outside = openOutside(toOutsideSettings(config))

    // Deliveries to webhooks.
    const origin = () => config.publicUrl ?? edge.url
    const originInFrames = () => config.publicUrl ?? anyOrigin
    const settings = toDeliverySettings(config)
    const stopping = new AbortController()
    const { deliverer, pings } = startDelivery({
      sql,
      apps,
      userCache,
      sharedLog,
      events,
      registrations,
      origin,
      vault,
      settings,
      tracer,
      clock,
      log,
      signal: stopping.signal,
    })
    teardown.add('deliveries', deadlineMs => deliverer.stop(deadlineMs))
    metrics.counter('parley_deliveries_total', 'Attempts to deliver to webhooks.', () => deliverer.attempts, 'status')
    teardown.add('pings', async () => stopping.abort())
    metrics.gauge('parley_deliveries_queued', 'Deliveries that wait, on all nodes.', () => deliverer.waiting)

    // Notifications: made of what was committed, and told to whoever is here.
    const feed = new Feed({
      sql,
      globalCommands,
      userCache,
      here: () => realtime.users,
      tell: (user, frame, change) => realtime.sendToUser(user, frame, change),
      origin: originInFrames,
      nowMs: () => performance.now(),
      log,
    })
    const notifier = new Notifier({
      sql,
      apps,
      userCache,
      events,
      patienceMs: config.notifySeconds * 1000,
      told: () => feed.wake(),
      clock,
      log,
    })
    let termsWaiting = 0
    metrics.gauge(
      'parley_background_waiting',
      'Apps with events of which notifications and search terms are still to be made, as this node knows.',
      () => notifier.waiting,
    )
    metrics.gauge(
      'parley_background_lag_seconds',
      'How long the oldest of these events has waited.',
      () => notifier.lagSeconds,
    )
    metrics.gauge(
      'parley_notification_terms_waiting',
      'Notifications, at most, that searches have to read themselves.',
      () => termsWaiting,
    )
    teardown.add('feed', () => feed.stop())
    teardown.add('notifications', () => notifier.stop())
    void notifier.start()

    // Answers of agents, and what they are made with.
    const knowledge = new PassageSearch(sql)
    const indexer = new Indexer({ sql, bytes, log })
    const tools = new AgentTools({ sql, knowledge, vault, settings: toToolSettings(config), now, log })
    teardown.add('tools of agents', () => tools.close())
    const materials = new MaterialReader({ sql, bytes })
    teardown.add('materials of questions', async () => materials.stop())
    const runSettings = toRunSettings(config)
    const runCounts = new RunCounts(metrics)
    const runFrames = new RunFrames({
      userCache,
      bus,
      show: (app, frame) => realtime.showAgents(app, frame),
      origin: originInFrames,
      clock,
    })
    const { runner, approvals, control } = startRunner({
      sql,
      apps,
      globalCommands,
      userCache,
      sharedLog,
      typing,
      triggers,
      providers: openProviders(toProviderSettings(config), { clock, log }),
      openToolbox: (request, signal) => tools.open(request, signal),
      knowledge,
      readMaterials: (run, trigger, takesImages, signal) => materials.read(run, trigger, { takesImages, signal }),
      watcher: runFrames,
      counts: runCounts,
      bus,
      secret: await findDeployment(sql),
      settings: runSettings,
      tracer,
      clock,
      log,
    })
    teardown.add('runs of agents', deadlineMs => runner.stop(deadlineMs))

    // What comes round again and again.
    const housekeeping = new AbortController()
    const past = () => earlierTime(sql, now())
    const deliveries = deliveryJobs({ deliverer, globalCommands, sql, past, log })
    const runs = agentRunJobs({ runner, approvals, counts: runCounts, sql, settings: runSettings, past })
    const jobParts = { sql, apps, bytes, trashDays: config.trashDays, past }
    const ofResources = resources.flatMap(({ jobs }) => jobs?.(jobParts) ?? [])
    const notifications = notificationJobs({
      notifier,
      apps,
      sql,
      clock,
      past,
      observeTerms: waiting => (termsWaiting = waiting),
    })
    const jobs = [
      ...storageJobs(sql, { eventDays: config.eventDays, auditDays: config.auditDays }, now),
      ...deliveries,
      ...notifications,
      ...indexer.jobs,
      ...runs,
      ...ofResources,
      sealJob({ sql, vault }),
      { name: 'forget sessions of administration', periodMs: 600_000, run: () => forgetSessions(sql, now()) },
    ]
    const requests = new RequestWindow(metrics.requests)
    const readLoopLoad = watchLoop()
    const monitor: Monitor = new Monitor({
      id: node,
      sql,
      version: config.version,
      beat: async () => ({
        sessions: realtime.figures.sessions,
        waiting: apps.waiting,
        rss: process.memoryUsage.rss(),
        disk: await readDisk(config.dataDir),
      }),
      read: () => {
        const { sessions, hubSessions, users, topics } = realtime.figures
        const { rss, heapUsed, external } = process.memoryUsage()
        const commitTimes = metrics.commitTimes.sample()
        return {
          ...requests.sample(),
          commits: metrics.commits,
          commands: metrics.commands,
          collisions: collisions(),
          commit_p50_ms: commitTimes.p50Ms,
          commit_p99_ms: commitTimes.p99Ms,
          commands_forwarded: forwarding?.forwarded ?? 0,
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
          notification_terms_waiting: termsWaiting,
          agent_runs_done: runCounts.totals.done,
          agent_runs_failed: runCounts.totals.failed,
          agent_runs_open: runCounts.open,
          agent_tokens_in: runCounts.totals.input,
          agent_tokens_out: runCounts.totals.output,
          bus_down: bus.reachesOtherNodes ? Number(!bus.isConnected) : Number.NaN,
          pool_waits: metrics.poolWaits.total,
          pool_wait_p99_ms: metrics.poolWaits.sample().p99Ms,
          replica_reads: replica?.reads ?? 0,
          lag_ms: monitor.lagMs,
          loop_busy_percent: readLoopLoad(),
          cpu_seconds: cpuSeconds(),
          rss_bytes: rss,
          heap_bytes: heapUsed,
          external_bytes: external,
        }
      },
      clock,
    })
    teardown.add('node', () => monitor.leave())
    let jobsEnd = async () => {}
    teardown.add('housekeeping', async () => {
      housekeeping.abort()
      await jobsEnd()
    })

    const sessionDirectory = new SessionDirectory({
      bus,
      node,
      otherNodes: () => monitor.otherNodes(),
      listHere: (filter, limit) => realtime.listSessions(filter, limit),
      clock,
    })

    // The edge.
    const services: Services = {
      sql,
      replica,
      apps,
      globalCommands,
      userCache,
      credentials,
      adminSessions,
      loginThrottle: new LoginThrottle(now),
      outboundQuota: new OutboundQuota({ perMinute: errandsPerMinute, atOnce: errandsAtOnce, now: clock.now }),
      typing,
      presence,
      bytes,
      renditions,
      previews,
      outside,
      agents: control,
      toolServers: tools,
      pings,
      liveSessions: sessionDirectory,
      monitor,
      settings: describeSettings(config),
      vault,
      upsertsJoin: config.upsertsJoin,
      now,
    }
    const edge = await createHttpServer({
      routes: serve(
        resources.flatMap(({ routes }) => routes),
        services,
      ),
      adminRoutes: serve(
        resources.flatMap(({ adminRoutes = [] }) => adminRoutes),
        services,
      ),
      webSockets: [realtimePath, hubPath],
      adminSessions,
      credentials,
      sql,
      now,
      settings: toHttpServerSettings(config),
      metrics,
      tracer,
      log,
      clock,
    })
    teardown.add('edge', deadlineMs => edge.close(deadlineMs))
    const realtime = new Realtime({
      node,
      sql,
      apps,
      globalCommands,
      userCache,
      sharedLog,
      typing,
      presence,
      findVisible: (users, active) => lookAmong({ sql, userCache, users, active }),
      events,
      credentials,
      isListed,
      isUnread,
      isRemovable: app => isRemovable(app.type),
      clock,
      log,
      authenticate: token => authenticate('token', `Bearer ${token}`, credentials),
      canRead: (state, user) => canRead(state, user, userCache),
      hiddenUntil: (state, user) => state.member(user)?.hidden_id ?? 0,
      actor: actorOf,
      refuse: (res, req, error) => edge.refuse(res, req, error),
      origin: originInFrames,
      agentAudience: (app, isThere) => runFrames.audience(app, isThere),
      clientOrigins: { of: req => edge.originOf(req), fallback: origin },
      ipOf: (res, req) => edge.ipOf(res, req),
      settings: toRealtimeSettings(config),
    })
    await realtime.start()
    const stopAnswering = sessionDirectory.start()
    onMoved(moved => realtime.onAppsChanged(moved))
    await feed.start()
    const looks: Job[] = [
      { name: 'look for users, keys and webhooks', periodMs: 1_000, dueWith: sharedRev, run: () => sharedLog.poll() },
      {
        name: 'look for what other nodes committed',
        periodMs: 1_000,
        dueWhere: 'true',
        isOfOthers: true,
        run: () => apps.poll(),
      },
      {
        name: 'look for news of apps that are not in memory',
        periodMs: 1_000,
        dueWhere: 'true',
        isOfOthers: true,
        run: () => realtime.poll(),
      },
      { name: 'look for notifications to be told of', periodMs: 1_000, dueWith: anyChange, run: () => feed.look() },
    ]
    jobsEnd = startJobs([...jobs, ...looks, ...monitor.jobs], {
      clock,
      log,
      signal: housekeeping.signal,
      onTurn: monitor.onTurn,
      look: asked => lookAtCommits(sql, { node, asked }),
    })
    await monitor.arrive()
    realtime.attach(edge.uws)
    teardown.add('sessions', () => realtime.close())
    teardown.add('lists of sessions', async () => stopAnswering())
    metrics.gauge('parley_sessions', 'Realtime connections.', () => realtime.figures.sessions)
    metrics.gauge('parley_channels', 'Apps that somebody is subscribed to.', () => realtime.figures.topics)
    const listening = await edge.listen(config.port, config.host)
    teardown.add('port', () => edge.stopListening())
    teardown.add('last sample', () => lastSample(monitor))

    const assistant = toAssistantSettings(config)
    if (assistant !== null) await ensureAssistant(globalCommands, assistant)

    // Last, because it is shown only once: whoever was refused before has lost nothing.
    const apiKey = await ensureKey({ sql, globalCommands, now: now() }, config)
    log.info({ url: listening, version: config.version }, 'The node is ready')
    teardown.add('log', () => log.info({ requests: edge.open, commands: apps.waiting }, 'The node stops'))
    const leave = async () => {
      log.info({ seconds: config.drainDelaySeconds }, 'The node says that it is about to stop')
      edge.announceEnd()
      // A node that cannot go on has nothing to wait for.
      await Promise.race([delay(config.drainDelaySeconds * 1000), failed.promise])
      await stop()
    }
    return { url: listening, apiKey, adminUrl: edge.adminUrl, stop: leave, failed: failed.promise }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Null where nothing is traced: then what traces is not even loaded. */
async function openTraces(config: Config, node: string, log: Log): Promise<Traces | null> {
  const settings = toTraceSettings(config)
  if (settings === null) return null
  const { Traces } = await import('./monitoring/traces.ts')
  return new Traces({ ...settings, version: config.version, node, log })
}

async function openBus({ redisUrl, redisIsCluster: isCluster }: Config, sql: Sql, log: Log): Promise<Bus> {
  if (redisUrl === null) return new LocalBus()
  return RedisBus.connect({ url: redisUrl.reveal(), isCluster, deployment: await findDeployment(sql), log })
}

/** Of this process since it started. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000_000
}

/** Stores what was counted since the last sample, while there is still something to be seen. Without PostgreSQL it is lost. */
async function lastSample(monitor: Monitor): Promise<void> {
  const stored = monitor.sample().catch(() => {})
  await Promise.race([stored, delay(lastSampleMs, undefined, { ref: false })])
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

async function closeAll(connections: CommitConnection[]): Promise<void> {
  await Promise.all(connections.map(connection => connection.close()))
}

/** What whoever started the node wants to know first. */
function announce({ url, apiKey, adminUrl }: Node, version: string): void {
  const lines = [`Parley ${version} listens on ${url}`]
  if (apiKey !== null) {
    const call = `curl ${url}/api/users -H 'Authorization: Bearer ${apiKey}'`
    lines.push('', 'Your API key, shown this once:', '', apiKey, '', 'Try it:', '', call, '')
    if (adminUrl !== null) lines.push('Or sign in with it:', '', adminUrl, '')
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

if (import.meta.main) {
  await runAsProcess(async () => {
    const file = readEnvironmentFile()
    const config = readConfig(readEnvironment(file), file)
    const node = await startNode(config)
    announce(node, config.version)
    return node
  })
}
