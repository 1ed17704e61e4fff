import type { Credentials } from '../auth/credentials.ts'
import type { LoginThrottle } from '../auth/login-throttle.ts'
import type { UserCache } from '../auth/user-cache.ts'
import type { Bytes } from '../bytes/bytes.ts'
import type { Outside } from '../egress/outside.ts'
import type { Apps } from '../engine/apps.ts'
import type { GlobalCommands } from '../engine/global/global-commands.ts'
import type { Typing } from '../engine/typing.ts'
import type { OutboundQuota } from '../http/request/outbound-quota.ts'
import { routesFor, type Asking, type ServedRoute, type UnderAdmin } from '../http/route.ts'
import type { FairQueue } from '../lib/fair-queue.ts'
import type { Vault } from '../lib/vault.ts'
import type { Previews } from '../media/previews.ts'
import type { Renditions } from '../media/renditions.ts'
import type { Monitor } from '../monitoring/monitor.ts'
import type { Replica } from '../postgres/replica.ts'
import type { Sql } from '../postgres/sql.ts'
import type { Presence } from '../presence/presence.ts'
import type { SessionDirectory } from '../realtime/sessions/session-directory.ts'
import type { SettingInfo } from './admin/setting-info.ts'
import type { AdminSessions } from './admin/sign-in/sessions.ts'
import type { AgentControl } from './agents/control.ts'
import type { AgentTools } from './agents/tools.ts'
import type { UploadRoom } from './blobs/uploads/room.ts'
import type { KeptSearches } from './content/lists/kept-search.ts'
import type { Renderer } from './content/text/renderer.ts'
import type { Pings } from './webhooks/delivery/attempt.ts'

/** The services of endpoints, made once by `src/node/server.ts`. */
export interface Services {
  sql: Sql
  /** For long reads; null without a replica. */
  replica: Pick<Replica, 'read'> | null
  apps: Apps
  globalCommands: GlobalCommands
  userCache: UserCache
  keptSearches: KeptSearches
  credentials: Credentials
  adminSessions: AdminSessions
  loginThrottle: LoginThrottle
  outboundQuota: OutboundQuota
  typing: Typing
  presence: Presence
  bytes: Bytes
  renditions: Renditions
  /** The archives of files that are being made, by their users. */
  archives: FairQueue
  previews: Previews
  uploadRoom: UploadRoom
  renderer: Renderer
  outside: Outside
  agents: AgentControl
  toolServers: Pick<AgentTools, 'list'>
  pings: Pings
  /** The realtime sessions of all nodes. */
  liveSessions: Pick<SessionDirectory, 'list' | 'mayHave'>
  /** The state of all nodes. */
  monitor: Monitor
  /** The settings of this node, without secrets. */
  settings: readonly SettingInfo[]
  /** Decrypts secrets of the database. */
  vault: Vault
  /** True where an upsert lets its caller join an app that was made by upsert. */
  upsertsJoin: boolean
  now: () => Date
}

/** What a handler gets beside the request, and passes on as it is: the services, and who asks. */
export type Context = Services & Asking

/** The members of the context that a function needs: it can be called with the whole, and with just these. */
export type Served<Names extends keyof Context> = Pick<Context, Names>

/** An endpoint of a resource. */
export type Route = ServedRoute<Context>

export const route = routesFor<Context>()

/** An endpoint under /admin, for the administration page alone. */
export const adminRoute = routesFor<Context, UnderAdmin>()
