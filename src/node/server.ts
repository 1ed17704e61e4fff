import { describeSettings } from '../config/config.ts'
import { toHttpServerSettings } from '../config/part-options.ts'
import { OutboundQuota } from '../http/request/outbound-quota.ts'
import { serve } from '../http/route.ts'
import { createHttpServer, type HttpServer } from '../http/server/server.ts'
import type { Teardown } from '../lib/process/teardown.ts'
import type { Monitor } from '../monitoring/monitor.ts'
import { endWith } from '../postgres/driver/ending.ts'
import { path as realtimePath } from '../realtime/protocols/native/native.ts'
import { path as hubPath } from '../realtime/protocols/signalr/hub.ts'
import type { Realtime } from '../realtime/realtime.ts'
import type { SessionDirectory } from '../realtime/sessions/session-directory.ts'
import { oauthRoutes } from '../mcp/oauth/routes.ts'
import { mcpRoutes } from '../mcp/routes.ts'
import { Subscriptions } from '../mcp/subscriptions.ts'
import { TextReader } from '../mcp/file-text.ts'
import { KeptSearches } from '../resources/content/lists/kept-search.ts'
import { eventTypes, resources } from '../resources/index.ts'
import { describePayloads } from '../resources/webhooks/described.ts'
import type { Services } from '../resources/route.ts'
import type { Webhooks } from './after-commits.ts'
import type { Agents } from './agents.ts'
import type { Base } from './base.ts'
import type { Engine } from './engine.ts'
import type { Files } from './files.ts'
import type { SharedState } from './shared-state.ts'
import type { Storage } from './storage.ts'

/** Pages that are looked at for one user, as the API says, and for all together: each holds a connection. A guess. */
const errandsPerMinute = 60
const errandsAtOnce = 200

interface Served extends Base, Storage, SharedState, Engine, Files {
  realtime: Realtime
  webhooks: Webhooks
  agents: Agents
  monitor: Monitor
  liveSessions: SessionDirectory
}

/**
 * The HTTP server with all routes, and realtime attached to it. It listens to nothing yet. `doors` gets how they are closed.
 * When the epoch ends, every answer is 503 and every session is told to come back, at once.
 */
export async function createServer(parts: Served, doors: Teardown): Promise<HttpServer> {
  const { config, epoch, realtime, liveSessions, webhooks, agents, now, clock } = parts
  const services: Services = {
    sql: parts.sql,
    replica: parts.replica,
    apps: parts.apps,
    globalCommands: parts.globalCommands,
    userCache: parts.userCache,
    keptSearches: new KeptSearches(),
    credentials: parts.credentials,
    adminSessions: parts.adminSessions,
    loginThrottle: parts.loginThrottle,
    outboundQuota: new OutboundQuota({ perMinute: errandsPerMinute, atOnce: errandsAtOnce, now: clock.now }),
    typing: parts.typing,
    presence: parts.presence,
    bytes: parts.bytes,
    renditions: parts.renditions,
    previews: parts.previews,
    outside: parts.outside,
    archives: parts.archives,
    uploadRoom: parts.uploadRoom,
    renderer: parts.renderer,
    agents: agents.control,
    toolServers: agents.tools,
    pings: webhooks.pings,
    liveSessions,
    monitor: parts.monitor,
    settings: describeSettings(config),
    vault: parts.vault,
    upsertsJoin: config.upsertsJoin,
    now,
  }
  const endingWith = (signal: AbortSignal): Services => ({
    ...services,
    sql: endWith(parts.sql, signal),
    replica: parts.replica?.endWith(signal) ?? null,
  })
  const subscriptions = new Subscriptions(parts)
  const texts = new TextReader()
  const server = await createHttpServer({
    ...parts,
    routes: serve(
      resources.flatMap(({ routes }) => routes),
      services,
      endingWith,
    ),
    adminRoutes: serve(
      resources.flatMap(({ adminRoutes = [] }) => adminRoutes),
      services,
      endingWith,
    ),
    toCallingRoutes: calls =>
      config.mcp === 'off'
        ? []
        : mcpRoutes({
            ...parts,
            ...{ calls, subscriptions, texts },
            version: config.apiVersion,
            isReadOnly: config.mcp === 'read-only',
            issuer: config.authIssuer,
          }),
    // With AUTH_ISSUER, clients get their tokens from the host.
    standardRoutes:
      config.mcp === 'off' || config.authIssuer !== null
        ? []
        : oauthRoutes({ ...parts, isReadOnly: config.mcp === 'read-only' }),
    payloads: () => describePayloads(eventTypes),
    webSockets: [realtimePath, hubPath],
    settings: toHttpServerSettings(config),
  })
  doors.add('HTTP server', deadlineMs => server.close(deadlineMs))
  realtime.attach(server)
  doors.add('sessions', () => realtime.close())
  doors.add('streams of clients', async () => subscriptions.close())
  doors.add('texts of files', async () => texts.stop())
  const stopAnswering = liveSessions.start()
  doors.add('lists of sessions', async () => stopAnswering())
  epoch.signal.addEventListener('abort', () => {
    server.withdraw()
    realtime.close()
    subscriptions.close()
  })
  return server
}
