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
import { AdminDoor, isAdminPath, type CookieReader } from '../admin/door.ts'
import { AdminPage } from '../admin/page.ts'
import { createPageRoutes } from '../admin/page-routes.ts'
import { adminHeaders } from '../admin/policy.ts'
import { RequestPipeline } from '../request-pipeline.ts'
import { Cors, type AllowedOrigins } from '../answer/cors.ts'
import type { RouteDurations } from '../about/durations.ts'
import { Endpoint } from '../endpoint.ts'
import { Exchange, toAddress, type ExchangeHost, type PortKind } from './exchange.ts'
import { createApp, openPort, portOf } from './listening.ts'
import type { Metrics } from '../about/metrics.ts'
import { ProxyHeaders } from '../request/proxy-headers.ts'
import { AmbiguousRequest } from '../request/framing.ts'
import { RequestIds } from './request-id.ts'
import { endRequestSpan, startRequestSpan } from './request-span.ts'
import { Router } from '../router.ts'
import type { Route } from '../route.ts'
import { upgradeOnly } from './upgrade.ts'
import { loadUws } from './uws.ts'

export interface AdminSettings {
  /** A port for administration alone; null for the one that everything else is on. */
  port: number | null
  /** The address that this port is opened on; null for all. */
  host: string | null
  /** Ranges of addresses that administration is open to; empty for all. */
  allow: readonly string[]
}

export interface HttpServerSettings {
  /** What `/version` answers. */
  version: string
  /** What is under /admin; null for nothing. */
  admin: AdminSettings | null
  /** Which requests are logged. */
  accessLogging: AccessLogging
  /** What `/metrics` asks for; null for nothing. */
  metricsToken: Secret | null
  /** Scheme and host for absolute URLs, without a slash at the end; null takes what each request says. */
  publicUrl: string | null
  /** Certificate chain and private key, PEM files; null serves plain HTTP. */
  tls: { certFile: string; keyFile: string } | null
  corsOrigins: AllowedOrigins
  /** True where a proxy in front of this server sets X-Forwarded-For and X-Forwarded-Proto. */
  isProxied: boolean
  /** For routes that set no limit of their own. */
  bodyLimitBytes: number
  /** How long a body may take to arrive. */
  bodyDeadlineMs: number
  /** Requests of one access token; null for no limit. API keys have none. */
  ratePerMinute: number | null
  /** How long no request may have come before the connections of an edge that closes are ended. */
  quietMs: number
}

export interface HttpServerOptions {
  routes: readonly Route[]
  /** Paths at which others serve WebSockets, over `uws`. */
  webSockets?: readonly string[]
  /** Endpoints under /admin, for the administration page alone. */
  adminRoutes: readonly Route[]
  /** Whose cookies open what is under /admin. */
  adminSessions: CookieReader
  credentials: Credentials
  /** Asked whether the database can be reached. */
  sql: Sql
  now: () => Date
  settings: HttpServerSettings
  metrics: Metrics
  /** Null where requests are not traced. */
  tracer?: Tracer | null
  log: Log
  clock?: Clock
}

/** How long an edge waits for a turn without clients before it closes its port: under load, one in a few has none. */
const calmMs = 500

/** How often an edge that closes looks whether its connections have gone: nobody notices such a delay. */
const lookMs = 20

/** Makes an edge. It listens to nothing before `listen`. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  return new HttpServer(options, await loadUws())
}

/**
 * The HTTP side of one node, from the socket to the routes' handlers. What can be answered at once is answered within
 * the call that brought the request, without a promise. It ends in three steps: `announceEnd`, `stopListening`, `close`;
 * what was not answered until then is lost, and the clients see a closed connection.
 */
export class HttpServer implements ExchangeHost {
  /** For routes of another kind (WebSockets), to be added before `listen`. */
  readonly uws: TemplatedApp
  /** What serves administration on a port of its own, where it has one. */
  readonly #adminUws: TemplatedApp | null
  readonly #adminSettings: AdminSettings | null
  readonly #native: typeof import('uWebSockets.js')
  readonly #cors: Cors
  readonly #proxyHeaders: ProxyHeaders
  readonly #pipeline: RequestPipeline
  /** For requests that lead to no route: their methods and paths are the clients' inventions. */
  readonly #unrouted: RouteDurations
  readonly #stopped = new AbortController()
  readonly #quietMs: number
  readonly #requestIds = new RequestIds()
  readonly #tracer: Tracer | null
  readonly #accessLog: AccessLog | null
  #isDraining = false
  #isEnding = false
  #listening: us_listen_socket[] = []
  #adminUrl: string | null = null
  #connections = 0
  /** Connections that came or went, and requests: whatever the event loop has to do for clients. */
  #arrivals = 0
  #open = 0
  #lastRequestAt = 0
  #onIdle: (() => void) | null = null

  constructor(options: HttpServerOptions, native: typeof import('uWebSockets.js')) {
    const { routes, webSockets = [], sql, settings, metrics } = options
    this.#native = native
    this.#tracer = options.tracer ?? null
    this.uws = createApp(native, settings.tls)
    const { admin } = settings
    this.#adminSettings = admin
    this.#adminUws = admin === null || admin.port === null ? null : createApp(native, settings.tls)
    this.#cors = new Cors(settings.corsOrigins)
    const scheme = settings.tls === null ? 'http' : 'https'
    this.#proxyHeaders = new ProxyHeaders({ publicUrl: settings.publicUrl, scheme, isProxied: settings.isProxied })
    this.#unrouted = metrics.requests.of('', '')
    this.#quietMs = settings.quietMs
    this.#accessLog = AccessLog.create(settings.accessLogging, options.log)
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
      door:
        admin === null
          ? null
          : new AdminDoor({
              proxyHeaders: this.#proxyHeaders,
              sessions: options.adminSessions,
              isAllowed: admin.allow.length === 0 ? () => true : rangeCheck(admin.allow),
            }),
      proxyHeaders: this.#proxyHeaders,
      signal: this.#stopped.signal,
    })
  }

  /** Resolves with the address for clients on this machine. Rejects with a StartFault that says why it cannot. */
  async listen(port: number, host: string | null): Promise<string> {
    const serve = (uws: TemplatedApp, kind: PortKind) =>
      uws.any('/*', (res, req) => this.#accept(res, req, exchange => this.#pipeline.begin(exchange), kind))
    serve(this.uws, this.#adminUws === null ? 'shared' : 'public')
    const listening = await openPort(this.uws, port, host)
    this.#listening.push(listening)
    const base = this.#proxyHeaders.fallback
    this.#proxyHeaders.fallback = `${base}:${portOf(this.#native, listening)}`
    if (this.#adminSettings !== null) this.#adminUrl = `${this.#proxyHeaders.fallback}/admin`
    if (this.#adminUws !== null) {
      serve(this.#adminUws, 'admin')
      const opened = await openPort(this.#adminUws, this.#adminSettings!.port!, this.#adminSettings!.host)
      this.#listening.push(opened)
      this.#adminUrl = `${base}:${portOf(this.#native, opened)}/admin`
    }
    return this.#proxyHeaders.fallback
  }

  /** Answers a request that came to one of the `webSockets` with the problem that an error stands for. */
  refuse(res: HttpResponse, req: HttpRequest, error: unknown): void {
    this.#accept(res, req, exchange => this.#pipeline.refuse(exchange, error))
  }

  /** Scheme and host under which the client of a request to one of the `webSockets` reaches this server. */
  originOf(req: HttpRequest): string {
    return this.#proxyHeaders.originOf({ header: name => req.getHeader(name) })
  }

  /** The IP address of that client. */
  ipOf(res: HttpResponse, req: HttpRequest): string {
    const forwarded = this.#proxyHeaders.forwardedAddressOf({ header: name => req.getHeader(name) })
    return forwarded ?? toAddress(Buffer.from(res.getRemoteAddress()))
  }

  /** The address for clients on this machine; without its port before `listen`. */
  get url(): string {
    return this.#proxyHeaders.fallback
  }

  /** The administration page for browsers on this machine; null where there is none, and before `listen`. */
  get adminUrl(): string | null {
    return this.#adminUrl
  }

  /** Requests that have begun and are not answered. */
  get open(): number {
    return this.#open
  }

  /** True once it does not listen any more. Before, a balancer would only connect again. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /**
   * From now on `/status` and `/ready` say that this node is about to end, so that balancers choose others. Everything is
   * served as before.
   */
  announceEnd(): void {
    this.#isDraining = true
  }

  /**
   * Lets in who has reached this machine by now, and nobody after that. Requests on connections that are open are served,
   * and each answer ends its connection.
   */
  async stopListening(): Promise<void> {
    this.announceEnd()
    const listening = this.#listening
    this.#listening = []
    if (listening.length > 0) await this.#calmTurn()
    for (const socket of listening) this.#native.us_listen_socket_close(socket)
    this.#isEnding = true
  }

  /**
   * Resolves in a turn of the event loop in which nothing came from clients. Connections that the system has made and this
   * process has not accepted are reset when the port is closed: then there are none, but for those of the last moment.
   */
  async #calmTurn(): Promise<void> {
    const endsAt = performance.now() + calmMs
    let calmTurns = 0
    while (calmTurns < 2 && performance.now() < endsAt) {
      const arrivals = this.#arrivals
      await nextTurn()
      calmTurns = this.#arrivals === arrivals ? calmTurns + 1 : 0
    }
  }

  /** Lets open requests, and those that still come, finish for at most `deadlineMs`, and ends all connections. */
  async close(deadlineMs: number): Promise<void> {
    await this.stopListening()
    this.#stopped.abort()
    await this.#finish(deadlineMs)
    this.uws.close()
    this.#adminUws?.close()
  }

  /**
   * Resolves when no connection is left, when no request was open for a quiet moment, or at the deadline. The moment is for
   * clients that keep connections: a request that crosses the end of its connection is lost, so only those end that have
   * not been used for a while.
   */
  async #finish(deadlineMs: number): Promise<void> {
    const endsAt = performance.now() + deadlineMs
    let quietTurns = 0
    while (performance.now() < endsAt && quietTurns < 3) {
      const quietAt = this.#lastRequestAt + this.#quietMs
      const waitMs = this.#open > 0 ? endsAt - performance.now() : Math.min(quietAt, endsAt) - performance.now()
      if (this.#connections > 0 && waitMs > 0) await this.#pause(Math.min(waitMs, lookMs))
      else await nextTurn()
      const isQuiet = this.#connections === 0 || (this.#open === 0 && performance.now() >= quietAt)
      quietTurns = isQuiet ? quietTurns + 1 : 0
    }
  }

  /** Until the last open request ends, for a moment at most. */
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
      else void this.#refuseForGood(exchange, AmbiguousRequest())
    } catch (error) {
      this.#pipeline.refuse(exchange, error)
    }
    exchange.detach()
  }

  /**
   * Ends the connection with the answer. That is given in a later turn: while a request is unanswered uWebSockets.js cuts
   * a connection on which another one follows, and what came with this one may be what a client smuggles past a proxy.
   */
  async #refuseForGood(exchange: Exchange, problem: Problem): Promise<void> {
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
