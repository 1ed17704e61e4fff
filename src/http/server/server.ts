import type { z } from 'zod'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'
import { everyWhile, systemClock, type Clock } from '../../lib/clock.ts'
import { overloaded, type Problem } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Tracer } from '../../lib/tracer.ts'
import type { Credentials } from '../../auth/credentials.ts'
import { rangeCheck } from '../../lib/address-ranges.ts'
import type { Sql } from '../../postgres/sql.ts'
import { AccessLog, type AccessLogging } from './access-log.ts'
import { Health } from '../about/health.ts'
import { ApiDescription } from '../about/description.ts'
import { createAboutRoutes } from '../about/routes.ts'
import { guardAdmin, type CookieReader } from '../admin/door.ts'
import { AdminPage } from '../admin/page.ts'
import { createPageRoutes } from '../admin/page-routes.ts'
import { adminHeaders } from '../admin/policy.ts'
import { InnerCalls } from '../inner-calls.ts'
import { isAdminPath, RequestPipeline } from '../request-pipeline.ts'
import { Cors, type AllowedOrigins } from '../answer/cors.ts'
import type { RouteDurations } from '../about/durations.ts'
import { Endpoint } from '../endpoint.ts'
import { Exchange, toAddress, type Answer, type ExchangeHost, type Lingering, type PortKind } from './exchange.ts'
import { createApp, Port } from './listening.ts'
import type { Metrics } from '../about/metrics.ts'
import { toProblemAnswer } from '../answer/problem-details.ts'
import { AmbiguousRequest, ProxyHeaders, RequestIds } from '../request/head.ts'
import { ThreadTime } from '../request/thread-time.ts'
import { Turns } from '../request/turns.ts'
import { endRequestSpan, startRequestSpan } from './request-span.ts'
import { Router } from '../router.ts'
import type { Route } from '../route.ts'
import { createSiteRoutes } from '../site/routes.ts'
import { upgradeOnly } from './upgrade.ts'
import { loadUws } from './uws.ts'

export interface AdminSettings {
  /** A separate port for administration; null: the main port. */
  port: number | null
  /** The address that this port listens on; null: all. */
  host: string | null
  /** Ranges of addresses that may reach administration; empty: all. */
  allow: readonly string[]
}

export interface HttpServerSettings {
  /** The version that `/version` reports. */
  version: string
  /** The version of this program. */
  productVersion: string
  /** Where the demo is; null where none runs. */
  demoUrl: string | null
  /** Settings of everything under /admin; null turns it off. */
  admin: AdminSettings | null
  /** The requests that are logged. */
  accessLogging: AccessLogging
  /** The bearer token of `/metrics`; null: none is needed. */
  metricsToken: Secret | null
  /** The origin for absolute URLs, without a trailing slash; null: the origin that each request names. */
  publicUrl: string | null
  /** Certificate chain and private key as PEM files; null: plain HTTP. */
  tls: { certFile: string; keyFile: string } | null
  corsOrigins: AllowedOrigins
  /** True where a proxy in front of this server sets X-Forwarded-For and X-Forwarded-Proto. */
  isProxied: boolean
  /** The limit for routes that set none of their own. */
  bodyLimitBytes: number
  /** How long a body may take to arrive. */
  bodyDeadlineMs: number
  /** Requests per minute of one user's access tokens; null: no limit. API keys have none. */
  ratePerMinute: number | null
  /** The connections to the database that requests share. */
  databaseConnections: number
  /** How long a closing server must have had no request before it ends its connections. */
  quietMs: number
}

export interface HttpServerOptions {
  routes: readonly Route[]
  /** The schemas of what webhooks are sent, by trigger, for the description of the API; asked when that is made. */
  payloads?: () => Readonly<Record<string, z.ZodType>>
  /** Routes whose handlers make requests of their own to the others. */
  toCallingRoutes?: (calls: InnerCalls) => readonly Route[]
  /** Routes that standards describe: they are no part of the API and not described with it. */
  standardRoutes?: readonly Route[]
  /** Paths of WebSocket endpoints, which others open on `uws`. */
  webSockets?: readonly string[]
  /** Endpoints under /admin, for the administration page alone. */
  adminRoutes: readonly Route[]
  /** Finds the sessions of cookies under /admin. */
  adminSessions: CookieReader
  credentials: Credentials
  /** The history that the revs of answers belong to. */
  epoch: { readonly id: string }
  /** For health checks of the database. */
  sql: Sql
  settings: HttpServerSettings
  metrics: Metrics
  /** Null where requests are not traced. */
  tracer?: Tracer | null
  log: Log
  clock?: Clock
}

/**
 * How long to wait for a turn of the event loop without clients before the port is closed: under load, one in a few has
 * none.
 */
const idleTurnTimeoutMs = 500

/**
 * How long a client that is still sending may read the answer before its connection is closed, as in other servers
 * (nginx: 5 s without a byte). uWebSockets.js itself ends it after 10 s in which it sends too little.
 */
const lingerMs = 5_000

/**
 * For how long a connection is kept without a request. uWebSockets.js ends it 8 to 12 s after the last answer, a constant
 * of its own: a client that is told ends it first (RFC 2068, section 19.7.1), and never writes to one that is ending.
 */
const keepAlive = 'Keep-Alive: timeout=8'

/** How often a closing server checks whether its connections are gone: an unnoticeable delay. */
const checkMs = 20

/** Creates a server, which does not listen before `listen`. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  return new HttpServer(options, await loadUws())
}

/**
 * The HTTP side of one node, from the socket to the routes' handlers. An answer that needs no waiting is given within
 * the call that brought the request, without a promise. Ends in three steps: `announceEnd`, `stopListening`, `close`;
 * requests that are unanswered by then are lost, and their connections closed.
 */
export class HttpServer implements ExchangeHost {
  /** For other endpoints (WebSockets), to be added before `listen`. */
  readonly uws: TemplatedApp
  /** The app of administration on a port of its own. */
  readonly #adminUws: TemplatedApp | null
  readonly #settings: HttpServerSettings
  readonly #native: typeof import('uWebSockets.js')
  readonly #cors: Cors
  readonly #proxyHeaders: ProxyHeaders
  readonly #pipeline: RequestPipeline
  /** Requests without a route share one histogram: clients could invent any number of methods and paths. */
  readonly #unrouted: RouteDurations
  readonly #stopped = new AbortController()
  readonly #requestIds = new RequestIds()
  readonly #tracer: Tracer | null
  readonly #accessLog: AccessLog | null
  readonly #log: Log
  #isDraining = false
  #isEnding = false
  #isWithdrawn = false
  /** That of administration last, where it has one of its own. */
  #ports: Port[] = []
  #adminUrl: string | null = null
  #connections = 0
  /** Connections that came or went, and requests: all work of the event loop for clients. */
  #arrivals = 0
  #open = 0
  #lastRequestAt = 0
  #onIdle: (() => void) | null = null
  /** Connections that were answered while their clients were sending, in the order of the answers. */
  readonly #lingering = new Set<Lingering>()
  readonly #beginSweeps: () => void

  constructor(options: HttpServerOptions, native: typeof import('uWebSockets.js')) {
    const { webSockets = [], standardRoutes = [], sql, settings, metrics } = options
    this.#native = native
    this.#log = options.log
    this.#tracer = options.tracer ?? null
    this.uws = createApp(native, settings.tls)
    this.#settings = settings
    const { admin } = settings
    this.#adminUws = admin === null || admin.port === null ? null : createApp(native, settings.tls)
    this.#cors = new Cors(settings.corsOrigins)
    const scheme = settings.tls === null ? 'http' : 'https'
    this.#proxyHeaders = new ProxyHeaders({ publicUrl: settings.publicUrl, scheme, isProxied: settings.isProxied })
    this.#unrouted = metrics.requests.of('', '')
    this.#accessLog = settings.accessLogging === 'off' ? null : new AccessLog(settings.accessLogging, options.log)
    for (const uws of [this.uws, this.#adminUws]) {
      uws?.filter((_, change) => {
        this.#connections += change
        this.#arrivals++
      })
    }
    const { clock = systemClock } = options
    this.#beginSweeps = everyWhile(clock, lingerMs / 5, this.#stopped.signal, () => this.#sweep())
    const health = new Health(sql, clock, () => this.#isDraining)
    const adminRoutes = admin === null ? [] : options.adminRoutes
    const pageRoutes = admin === null ? [] : createPageRoutes(new AdminPage())
    const time = new ThreadTime()
    const turns = new Turns(settings.databaseConnections, caller => time.isResting(caller))
    const calls = new InnerCalls(() => router, turns, time)
    const routes = [...options.routes, ...(options.toCallingRoutes?.(calls) ?? [])]
    const description = new ApiDescription(
      () => [...routes, ...adminRoutes, ...about],
      settings.version,
      options.payloads,
    )
    const about: Route[] = createAboutRoutes({ ...settings, health, metrics, description })
    const site = createSiteRoutes({ ...settings, hasAdmin: admin !== null && admin.port === null }, description)
    const toRouter = (some: readonly Route[]) => {
      const router = new Router<Endpoint>()
      for (const route of some) {
        const durations = metrics.requests.of(route.method, route.path)
        router.add(route.method, route.path, new Endpoint(route, durations, settings.bodyLimitBytes))
      }
      return router
    }
    const router = toRouter([...routes, ...webSockets.map(upgradeOnly), ...about, ...site, ...standardRoutes])
    this.#pipeline = new RequestPipeline({
      ...options,
      turns,
      time,
      router,
      adminRouter: toRouter([...adminRoutes, ...pageRoutes]),
      enterAdmin:
        admin === null
          ? null
          : guardAdmin({
              proxyHeaders: this.#proxyHeaders,
              sessions: options.adminSessions,
              isAllowed: admin.allow.length === 0 ? () => true : rangeCheck(admin.allow),
            }),
      proxyHeaders: this.#proxyHeaders,
      signal: this.#stopped.signal,
    })
  }

  /**
   * Resolves with the URL for clients on this machine. Rejects with a StartFault. `ports` are those of a server whose place it
   * takes.
   */
  async listen(port: number, host: string | null, ports: readonly Port[] = []): Promise<string> {
    const serve = (uws: TemplatedApp, kind: PortKind) =>
      uws.any('/*', (res, req) => this.#accept(res, req, exchange => this.#pipeline.begin(exchange), kind))
    serve(this.uws, this.#adminUws === null ? 'shared' : 'public')
    const { admin, tls } = this.#settings
    const open = async (uws: TemplatedApp, taken: Port | undefined, wanted: number, on: string | null) => {
      const opened = taken ?? (await Port.open(this.#native, tls, wanted, on))
      opened.leadTo(uws)
      this.#ports.push(opened)
      return opened.number
    }
    const base = this.#proxyHeaders.fallback
    this.#proxyHeaders.fallback = `${base}:${await open(this.uws, ports[0], port, host)}`
    if (admin !== null) this.#adminUrl = `${this.#proxyHeaders.fallback}/admin`
    if (this.#adminUws !== null) {
      serve(this.#adminUws, 'admin')
      const opened = await open(this.#adminUws, ports[1], admin!.port!, admin!.host)
      this.#adminUrl = `${base}:${opened}/admin`
    }
    return this.#proxyHeaders.fallback
  }

  /** Answers a request to one of the `webSockets` with the problem for an error. */
  refuse(res: HttpResponse, req: HttpRequest, error: unknown): void {
    this.#accept(res, req, exchange => this.#pipeline.refuse(exchange, error))
  }

  /** The origin under which the client of a request to one of the `webSockets` reaches this server. */
  originOf(req: HttpRequest): string {
    return this.#proxyHeaders.originOf(headersOf(req))
  }

  /** The IP address of the client of a request to one of the `webSockets`. */
  ipOf(res: HttpResponse, req: HttpRequest): string {
    const forwarded = this.#proxyHeaders.forwardedAddressOf(headersOf(req))
    return forwarded ?? toAddress(Buffer.from(res.getRemoteAddress()))
  }

  /** The URL of the administration page on this machine; null where it is turned off, and before `listen`. */
  get adminUrl(): string | null {
    return this.#adminUrl
  }

  /** The URL for clients on this machine; without a port before `listen`. */
  get url(): string {
    return this.#proxyHeaders.fallback
  }

  /** True where nothing that this server knows may be believed any more. */
  get isWithdrawn(): boolean {
    return this.#isWithdrawn
  }

  /** Answers 503 to every request from now on, those under way included. It still listens, for the server that takes its place. */
  withdraw(): void {
    this.#isWithdrawn = true
    this.announceEnd()
  }

  /** Gives its ports to the server that takes its place. Requests on open connections are answered, which ends them. */
  handOver(): Port[] {
    const ports = this.#ports
    this.#ports = []
    this.#isEnding = true
    return ports
  }

  /** The answer that a withdrawn server gives; that the process runs is still true. */
  insteadOf(answer: Answer, exchange: Exchange): Answer {
    const { id: request_id, method, path } = exchange
    if (path === '/live') return answer
    return toProblemAnswer(overloaded(), { request_id, method, path, source: '' }, this.#log)
  }

  /** The number of unanswered requests. */
  get open(): number {
    return this.#open
  }

  /** True once it has stopped listening. Before, a load balancer would only reconnect. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /**
   * Lets `/status` and `/ready` report the coming end, so that load balancers choose other nodes. Everything is still
   * served.
   */
  announceEnd(): void {
    this.#isDraining = true
  }

  /**
   * Accepts the connections that have reached this machine, and none after. Requests on open connections are served,
   * and each answer ends its connection.
   */
  async stopListening(): Promise<void> {
    this.announceEnd()
    const ports = this.#ports
    this.#ports = []
    if (ports.length > 0) await this.#idleTurn()
    for (const port of ports) port.close()
    this.#isEnding = true
  }

  /**
   * Resolves in a turn of the event loop without work for clients. Closing the port resets connections that the system
   * has made and this process has not accepted; in such a turn there are only those of the last moment.
   */
  async #idleTurn(): Promise<void> {
    const endsAt = performance.now() + idleTurnTimeoutMs
    let calmTurns = 0
    while (calmTurns < 2 && performance.now() < endsAt) {
      const arrivals = this.#arrivals
      await nextTurn()
      calmTurns = this.#arrivals === arrivals ? calmTurns + 1 : 0
    }
  }

  /** Lets open and further requests finish for at most `deadlineMs`, and ends all connections. */
  async close(deadlineMs: number): Promise<void> {
    await this.stopListening()
    this.#stopped.abort()
    await this.#finish(deadlineMs)
    this.uws.close()
    this.#adminUws?.close()
  }

  /**
   * Resolves when no connection is left, when no request was open for `quietMs`, or at the deadline. The quiet time is
   * for clients that keep connections: a request that crosses the end of its connection is lost, so only connections
   * end that have been idle.
   */
  async #finish(deadlineMs: number): Promise<void> {
    const endsAt = performance.now() + deadlineMs
    let quietTurns = 0
    while (performance.now() < endsAt && quietTurns < 3) {
      const quietAt = this.#lastRequestAt + this.#settings.quietMs
      const waitMs = this.#open > 0 ? endsAt - performance.now() : Math.min(quietAt, endsAt) - performance.now()
      if (this.#connections > 0 && waitMs > 0) await this.#pause(Math.min(waitMs, checkMs))
      else await nextTurn()
      const isQuiet = this.#connections === 0 || (this.#open === 0 && performance.now() >= quietAt)
      quietTurns = isQuiet ? quietTurns + 1 : 0
    }
  }

  /** Waits until the last open request ends, at most `pauseMs`. */
  async #pause(pauseMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = systemClock.after(pauseMs, resolve)
    this.#onIdle = resolve
    await promise
    cancel()
    this.#onIdle = null
  }

  #accept(res: HttpResponse, req: HttpRequest, begin: (exchange: Exchange) => void, port: PortKind = 'shared'): void {
    const exchange = new Exchange(res, req, this, port)
    exchange.id = this.#requestIds.of(exchange.header('x-request-id'))
    if (this.#tracer !== null) exchange.span = startRequestSpan(this.#tracer, exchange)
    this.#open++
    this.#lastRequestAt = exchange.startedAt
    this.#arrivals++
    try {
      const standing = isAdminPath(exchange.path)
        ? adminHeaders(exchange.path)
        : this.#cors.headersFor(exchange.header('origin'))
      exchange.standing = `${standing}\r\nX-Request-Id: ${exchange.id}\r\n${keepAlive}`
      if (this.#isWithdrawn && exchange.path !== '/live') this.#pipeline.refuse(exchange, overloaded())
      else if (exchange.isClearlyFramed) begin(exchange)
      else void this.#refuseAndClose(exchange, AmbiguousRequest())
    } catch (error) {
      this.#pipeline.refuse(exchange, error)
    }
    exchange.detach()
  }

  /**
   * Ends the connection with the answer, in a later turn: during an unanswered request uWebSockets.js closes a
   * connection on which another request follows, which may be one that a client smuggles past a proxy.
   */
  async #refuseAndClose(exchange: Exchange, problem: Problem): Promise<void> {
    exchange.isLast = true
    await nextTurn()
    this.#pipeline.refuse(exchange, problem)
  }

  onEnd(exchange: Exchange, status: number): void {
    this.#open--
    const durations = exchange.durations ?? this.#unrouted
    durations.observe(status, (performance.now() - exchange.startedAt) / 1000)
    this.#accessLog?.add(exchange, status)
    if (exchange.span !== null) endRequestSpan(exchange.span, exchange, status)
    if (this.#open === 0) this.#onIdle?.()
  }

  onLinger(connection: Lingering): void {
    this.#lingering.add(connection)
    this.#beginSweeps()
  }

  /** Closes connections that have lingered for long enough; false where none is left. */
  #sweep(): boolean {
    const now = performance.now()
    for (const connection of this.#lingering) {
      if (connection.isOpen && now - connection.since < lingerMs) continue
      this.#lingering.delete(connection)
      connection.close()
    }
    return this.#lingering.size > 0
  }
}

function headersOf(req: HttpRequest) {
  return {
    header: (name: string) => req.getHeader(name),
    forEach: (visit: (name: string, value: string) => void) => req.forEach(visit),
  }
}
