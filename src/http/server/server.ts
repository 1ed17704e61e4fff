import { setImmediate as nextTurn } from 'node:timers/promises'
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { systemClock, type Clock } from '../../lib/clock.ts'
import type { Problem } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Tracer } from '../../lib/tracer.ts'
import type { Credentials } from '../../auth/credentials.ts'
import { rangeCheck } from '../../lib/address-ranges.ts'
import type { Sql } from '../../postgres/sql.ts'
import { AccessLog, type AccessLogging } from './access-log.ts'
import { Health } from '../about/health.ts'
import { createAboutRoutes } from '../about/routes.ts'
import { guardAdmin, type CookieReader } from '../admin/door.ts'
import { AdminPage } from '../admin/page.ts'
import { createPageRoutes } from '../admin/page-routes.ts'
import { adminHeaders } from '../admin/policy.ts'
import { isAdminPath, RequestPipeline } from '../request-pipeline.ts'
import { Cors, type AllowedOrigins } from '../answer/cors.ts'
import type { RouteDurations } from '../about/durations.ts'
import { Endpoint } from '../endpoint.ts'
import { Exchange, toAddress, type ExchangeHost, type PortKind } from './exchange.ts'
import { createApp, openPort, portOf } from './listening.ts'
import type { Metrics } from '../about/metrics.ts'
import { AmbiguousRequest, ProxyHeaders, RequestIds } from '../request/head.ts'
import { endRequestSpan, startRequestSpan } from './request-span.ts'
import { Router } from '../router.ts'
import type { Route } from '../route.ts'
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
  /** Requests per minute of one access token; null: no limit. API keys have none. */
  ratePerMinute: number | null
  /** How long a closing server must have had no request before it ends its connections. */
  quietMs: number
}

export interface HttpServerOptions {
  routes: readonly Route[]
  /** Paths of WebSocket endpoints, which others open on `uws`. */
  webSockets?: readonly string[]
  /** Endpoints under /admin, for the administration page alone. */
  adminRoutes: readonly Route[]
  /** Finds the sessions of cookies under /admin. */
  adminSessions: CookieReader
  credentials: Credentials
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
  #isDraining = false
  #isEnding = false
  #listening: us_listen_socket[] = []
  #adminUrl: string | null = null
  #connections = 0
  /** Connections that came or went, and requests: all work of the event loop for clients. */
  #arrivals = 0
  #open = 0
  #lastRequestAt = 0
  #onIdle: (() => void) | null = null

  constructor(options: HttpServerOptions, native: typeof import('uWebSockets.js')) {
    const { routes, webSockets = [], sql, settings, metrics } = options
    this.#native = native
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
    const health = new Health(sql, options.clock ?? systemClock, () => this.#isDraining)
    const adminRoutes = admin === null ? [] : options.adminRoutes
    const pageRoutes = admin === null ? [] : createPageRoutes(new AdminPage())
    const about = createAboutRoutes({ ...settings, health, metrics, routes: [...routes, ...adminRoutes] })
    const toRouter = (some: readonly Route[]) => {
      const router = new Router<Endpoint>()
      for (const route of some) {
        const durations = metrics.requests.of(route.method, route.path)
        router.add(route.method, route.path, new Endpoint(route, durations, settings.bodyLimitBytes))
      }
      return router
    }
    this.#pipeline = new RequestPipeline({
      ...options,
      router: toRouter([...routes, ...webSockets.map(upgradeOnly), ...about]),
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

  /** Resolves with the URL for clients on this machine. Rejects with a StartFault. */
  async listen(port: number, host: string | null): Promise<string> {
    const serve = (uws: TemplatedApp, kind: PortKind) =>
      uws.any('/*', (res, req) => this.#accept(res, req, exchange => this.#pipeline.begin(exchange), kind))
    serve(this.uws, this.#adminUws === null ? 'shared' : 'public')
    const listening = await openPort(this.uws, port, host)
    this.#listening.push(listening)
    const base = this.#proxyHeaders.fallback
    this.#proxyHeaders.fallback = `${base}:${portOf(this.#native, listening)}`
    const { admin } = this.#settings
    if (admin !== null) this.#adminUrl = `${this.#proxyHeaders.fallback}/admin`
    if (this.#adminUws !== null) {
      serve(this.#adminUws, 'admin')
      const opened = await openPort(this.#adminUws, admin!.port!, admin!.host)
      this.#listening.push(opened)
      this.#adminUrl = `${base}:${portOf(this.#native, opened)}/admin`
    }
    return this.#proxyHeaders.fallback
  }

  /** Answers a request to one of the `webSockets` with the problem for an error. */
  refuse(res: HttpResponse, req: HttpRequest, error: unknown): void {
    this.#accept(res, req, exchange => this.#pipeline.refuse(exchange, error))
  }

  /** The origin under which the client of a request to one of the `webSockets` reaches this server. */
  originOf(req: HttpRequest): string {
    return this.#proxyHeaders.originOf({ header: name => req.getHeader(name) })
  }

  /** The IP address of the client of a request to one of the `webSockets`. */
  ipOf(res: HttpResponse, req: HttpRequest): string {
    const forwarded = this.#proxyHeaders.forwardedAddressOf({ header: name => req.getHeader(name) })
    return forwarded ?? toAddress(Buffer.from(res.getRemoteAddress()))
  }

  /** The URL of the administration page on this machine; null where it is turned off, and before `listen`. */
  get adminUrl(): string | null {
    return this.#adminUrl
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
    const listening = this.#listening
    this.#listening = []
    if (listening.length > 0) await this.#idleTurn()
    for (const socket of listening) this.#native.us_listen_socket_close(socket)
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
      exchange.standing = `${standing}\r\nX-Request-Id: ${exchange.id}`
      if (exchange.isClearlyFramed) begin(exchange)
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
}
