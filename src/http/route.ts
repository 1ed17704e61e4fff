import type { z } from 'zod'
import type { IdempotencyKey } from '../engine/commit/idempotency.ts'
import type { Apps } from '../engine/apps.ts'
import type { GlobalCommands } from '../engine/global-commands.ts'
import type { People } from '../auth/user-cache.ts'
import type { Presence } from '../presence/presence.ts'
import type { Principal } from '../auth/principal.ts'
import type { Typing } from '../engine/typing.ts'
import type { AdminSessions } from './admin/sessions.ts'
import type { Auth } from '../auth/authentication.ts'
import type { Credentials } from '../auth/credentials.ts'
import type { LoginThrottle } from '../auth/login-throttle.ts'
import type { Monitor } from '../monitoring/monitor.ts'
import type { ProblemType } from '../lib/errors.ts'
import type { Vault } from '../lib/vault.ts'
import type { Json, Scalars } from '../api/json.ts'
import type { Secret } from '../lib/secret.ts'
import type { Bytes } from '../bytes/bytes.ts'
import type { Previews } from '../media/previews.ts'
import type { Renditions } from '../media/renditions.ts'
import type { Replica } from '../postgres/replica.ts'
import type { Sql } from '../postgres/sql.ts'
import type { Entry } from './admin/door.ts'
import type { AgentControl } from './agents.ts'
import type { OutboundQuota } from './request/outbound-quota.ts'
import type { LiveSessions } from './live-sessions.ts'
import type { Outside } from './outside.ts'
import type { Pings } from './pings.ts'
import type { SettingInfo } from './setting-info.ts'
import type { ToolServers } from './tool-servers.ts'
import type { Upload } from './request/upload.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/**
 * The representation that the caller chose: how numbers are written, whether list items are whole, and whether lists
 * inside of items are, as far as one answer goes.
 */
export interface Representation {
  scalars: Scalars
  items: 'summary' | 'details'
  inner: 'first' | 'all'
}

/** What handlers work with. Made once by `main.ts`. */
export interface Parts {
  sql: Sql
  /** For reads that take long; null where there is none. */
  replica: Replica | null
  apps: Apps
  globalCommands: GlobalCommands
  people: People
  credentials: Credentials
  adminSessions: AdminSessions
  loginThrottle: LoginThrottle
  outboundQuota: OutboundQuota
  typing: Typing
  presence: Presence
  bytes: Bytes
  renditions: Renditions
  previews: Previews
  outside: Outside
  agents: AgentControl
  toolServers: ToolServers
  pings: Pings
  /** The realtime connections of all nodes. */
  liveSessions: LiveSessions
  /** What nodes say of themselves. */
  monitor: Monitor
  /** The settings of this node, without secrets. */
  settings: readonly SettingInfo[]
  /** Opens what is sealed in the database. */
  vault: Vault
  /** Whether an upsert lets its caller into an app that was itself made by one. */
  upsertsJoin: boolean
  now: () => Date
}

/** One request, checked. */
export interface RouteRequest<Params, Query, Body> extends Parts {
  params: Params
  query: Query
  body: Body
  by: Principal
  form: Representation
  /** Set where the route creates and the client sent an Idempotency-Key: hand it to `apps.run` or `direct.run`. */
  idempotencyKey: IdempotencyKey | undefined
  /** The raw body, where the route declares `uploadLimitBytes`. What the handler does not read is thrown away. */
  upload: Upload | undefined
  /** Where the route `streams`: the client asks for that instead of one answer. */
  wantsStream: boolean
  /** Scheme and host under which the client reaches this server, without a trailing slash: for absolute URLs. */
  origin: string
  /** Set where the request came in under /admin. */
  admin: Entry | undefined
  /** The client's IP address. Read it before the first await: it is empty once the client has gone away. */
  address: string
}

export interface Reply<Status extends number = number> {
  status: Status
  /** An object for the JSON writer, `Json` or `Encoded` made before, text/plain as a string, or a Download. */
  body: unknown
  headers?: Record<string, string>
}

/** A status and its body; no body for 204. */
export function reply<Status extends number>(
  status: Status,
  body?: object | Json | string,
  headers?: Record<string, string>,
): Reply<Status> {
  return headers === undefined ? { status, body } : { status, body, headers }
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** What a resource declares of an endpoint: who may call, what comes in, what goes out, how it can refuse. */
export interface RouteDeclaration<
  Params extends z.ZodType | undefined,
  Query extends z.ZodType | undefined,
  Body extends z.ZodType | undefined,
  Replies extends Record<number, z.ZodType | null>,
> {
  method: Method
  /** `{name}` stands for one path segment. */
  path: string
  summary: string
  /** A Secret is a bearer token of this route's own, beside those of the API. */
  auth: Auth | Secret
  /** Values are strings, percent-decoded. */
  params?: Params
  /** Values are strings; a schema member that is an array collects repeated parameters. Unknown ones are ignored. */
  query?: Query
  /** JSON. An empty body counts as `{}`. */
  body?: Body
  /** Default 4 MiB, and 64 KiB without a credential; more where a data URI may be sent. */
  bodyLimitBytes?: number
  /** For a body of another kind: the handler gets it as `upload`, up to this size, and reads it as it arrives. */
  uploadLimitBytes?: number
  /** Then: the part of the form that holds the file. */
  uploadPart?: string
  /** True where replies may be a Download: what the client says of ranges and of what it has is then read. */
  isDownload?: boolean
  /** A media type that the client may ask for by Accept, beside JSON: the reply is then a Download, sent as it is made. */
  streams?: string
  /** True for a POST that creates, or votes: the Idempotency-Key header is honoured. An upload has to see to its content. */
  creates?: boolean
  /** Status to schema of the body; null where there is none. */
  replies: Replies
  /** Beyond 401, 422 and the general ones, which the edge adds by itself. */
  problems?: ProblemType[]
  handle: (
    request: RouteRequest<Output<Params>, Output<Query>, Output<Body>>,
  ) => Reply<keyof Replies & number> | Promise<Reply<keyof Replies & number>>
}

/** A route as the edge sees it. */
export interface Route {
  method: Method
  path: string
  summary: string
  auth: Auth | Secret
  params?: z.ZodType
  query?: z.ZodType
  body?: z.ZodType
  bodyLimitBytes?: number
  uploadLimitBytes?: number
  uploadPart?: string
  isDownload?: boolean
  streams?: string
  creates?: boolean
  replies: Record<number, z.ZodType | null>
  problems?: ProblemType[]
  handle: (request: RouteRequest<unknown, unknown, unknown>) => Reply | Promise<Reply>
}

/** Declares an endpoint. Types of params, query and body follow from the schemas; undeclared statuses do not compile. */
export function route<
  Params extends z.ZodType | undefined = undefined,
  Query extends z.ZodType | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Replies extends Record<number, z.ZodType | null> = Record<number, never>,
>(declared: RouteDeclaration<Params, Query, Body, Replies>): Route {
  // The edge calls `handle` only with what the declared schemas put out, so the wider type is safe to forget.
  return declared as unknown as Route
}
