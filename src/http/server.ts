import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import type { Principal } from '../actors/principal.ts'
import { NotFound, problem, type Problem } from '../lib/errors.ts'
import type { Secret } from '../lib/secret.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { Health } from './about/health.ts'
import { createAboutRoutes } from './about/routes.ts'
import { toAnswer } from './answer.ts'
import { authenticate } from './authentication.ts'
import { Bodies, hasBody } from './body.ts'
import { createRequestMaker, type RequestMaker } from './checked-request.ts'
import { Cors, preflightHeaders, type AllowedOrigins } from './cors.ts'
import { Download, readConditions, sendDownload, unconditional, type Conditions } from './download.ts'
import type { RouteDurations } from './durations.ts'
import { Endpoint } from './endpoint.ts'
import { Exchange, type Answer } from './exchange.ts'
import { createApp, openPort, portOf } from './listening.ts'
import type { Metrics } from './metrics.ts'
import { toProblemAnswer } from './problem-details.ts'
import { RateLimit } from './rate-limit.ts'
import { Callers } from './request/caller.ts'
import { chooseForm, type FormChoice } from './request/form.ts'
import { requireKey, toOnceKey } from './request/once.ts'
import { Router } from './router.ts'
import type { Parts, Reply, Route } from './route.ts'
import { ClientGone, Upload } from './upload.ts'
import { loadUws } from './uws.ts'

export const UriTooLong = problem(414, 'uri-too-long', 'The address of the request is too long.')
export const MethodNotAllowed = problem(405, 'method-not-allowed', 'This address does not have this method.')

/** Path and query together. Four times what the longest useful list of filters takes. */
const longestTarget = 32 * 1024

export interface EdgeSettings {
  /** What `/version` answers. */
  version: string
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
}

export interface EdgeOptions {
  routes: readonly Route[]
  parts: Parts
  settings: EdgeSettings
  metrics: Metrics
  log: Log
  clock?: Clock
}

/** What was read from a request before it was freed. */
interface Call {
  exchange: Exchange
  endpoint: Endpoint
  values: string[]
  choice: FormChoice
  /** The client's name for itself. */
  source: string
  /** The Idempotency-Key; empty if there is none. */
  key: string
  origin: string
  address: string | undefined
  /** What the client said about the bytes that it wants. */
  conditions: Conditions
  upload: Upload | undefined
}

/** Makes an edge. It listens to nothing before `listen`. */
export async function createEdge(options: EdgeOptions): Promise<Edge> {
  return new Edge(options, await loadUws())
}

/**
 * The HTTP side of one node, from the socket to the routes' handlers. What can be answered at once is answered within
 * the call that brought the request, without a promise. `close` ends it; what was not answered until then is lost, and
 * the clients see a closed connection.
 */
export class Edge {
  /** For routes of another kind (WebSockets), to be added before `listen`. */
  readonly uws: TemplatedApp
  readonly #native: typeof import('uWebSockets.js')
  readonly #options: EdgeOptions
  readonly #router = new Router<Endpoint>()
  readonly #cors: Cors
  readonly #callers: Callers
  readonly #bodies: Bodies
  readonly #rate: RateLimit | null
  readonly #toRequest: RequestMaker
  /** For requests that lead to no route: their methods and paths are the clients' inventions. */
  readonly #unrouted: RouteDurations
  readonly #stopped = new AbortController()
  readonly #onEnd = (exchange: Exchange, status: number) => this.#end(exchange, status)
  #listening: us_listen_socket | null = null
  #open = 0
  #onIdle: (() => void) | null = null

  constructor(options: EdgeOptions, native: typeof import('uWebSockets.js')) {
    const { routes, parts, settings, metrics, clock = systemClock } = options
    this.#options = options
    this.#native = native
    this.uws = createApp(native, settings.tls)
    this.#cors = new Cors(settings.corsOrigins)
    const scheme = settings.tls === null ? 'http' : 'https'
    this.#callers = new Callers({ publicUrl: settings.publicUrl, scheme, isProxied: settings.isProxied })
    this.#bodies = new Bodies({ deadlineMs: settings.bodyDeadlineMs, clock, signal: this.#stopped.signal })
    this.#rate = settings.ratePerMinute === null ? null : new RateLimit(settings.ratePerMinute, () => clock.now())
    this.#toRequest = createRequestMaker(parts)
    this.#unrouted = metrics.requests.of('', '')
    const health = new Health(parts.sql, parts.now)
    const about = createAboutRoutes({ ...settings, health, metrics, routes })
    for (const route of [...routes, ...about]) {
      const durations = metrics.requests.of(route.method, route.path)
      this.#router.add(route.method, route.path, new Endpoint(route, durations, settings.bodyLimitBytes))
    }
  }

  /** Resolves with the address for clients on this machine. Rejects with a StartFault that says why it cannot. */
  async listen(port: number, host: string | null): Promise<string> {
    this.uws.any('/*', (res, req) => this.#accept(new Exchange(res, req, this.#onEnd)))
    this.#listening = await openPort(this.uws, port, host)
    this.#callers.fallback += `:${portOf(this.#native, this.#listening)}`
    return this.#callers.fallback
  }

  /** The address for clients on this machine; without its port before `listen`. */
  get url(): string {
    return this.#callers.fallback
  }

  /** Requests that have begun and are not answered. */
  get open(): number {
    return this.#open
  }

  /**
   * Stops listening, lets open requests finish for at most `deadlineMs`, and ends all connections. Requests that still
   * come in on connections kept alive are served, and their connections ended with the answer.
   */
  async close(deadlineMs: number): Promise<void> {
    if (this.#listening !== null) this.#native.us_listen_socket_close(this.#listening)
    this.#listening = null
    this.#stopped.abort()
    if (this.#open > 0) {
      const idle = Promise.withResolvers<void>()
      const timer = setTimeout(idle.resolve, deadlineMs)
      this.#onIdle = idle.resolve
      await idle.promise
      clearTimeout(timer)
    }
    // The last answer leaves the machine only after the turn of the event loop in which it was given.
    await new Promise(resolve => setImmediate(resolve))
    this.uws.close()
  }

  #accept(exchange: Exchange): void {
    this.#open++
    try {
      exchange.isLast = this.#stopped.signal.aborted
      exchange.standing = this.#cors.headersFor(exchange.header('origin'))
      this.#begin(exchange)
    } catch (error) {
      this.#refuse(exchange, error)
    }
    exchange.detach()
  }

  /** Everything that needs the request itself: it is freed when this returns. */
  #begin(exchange: Exchange): void {
    const { method, path, query } = exchange
    if (method === 'OPTIONS') return exchange.answer({ status: 204, headers: preflightHeaders })
    if (path.length + query.length > longestTarget) throw UriTooLong()
    const match = this.#router.find(method === 'HEAD' ? 'GET' : method, path)
    if ('allowed' in match)
      throw match.allowed.length === 0 ? NotFound() : MethodNotAllowed({ allow: toAllow(match.allowed) })

    const { target: endpoint, values } = match
    exchange.durations = endpoint.durations
    const kit = exchange.header('x-weavy-source')
    const call: Call = {
      exchange,
      endpoint,
      values,
      source: kit || exchange.header('x-service-source'),
      choice: chooseForm(exchange.header('prefer'), kit, query),
      key: endpoint.route.creates === true ? exchange.header('idempotency-key') : '',
      origin: this.#callers.originOf(exchange),
      address: this.#callers.forwardedAddressOf(exchange),
      conditions: endpoint.route.isDownload === true ? readConditions(exchange) : unconditional,
      upload: undefined,
    }
    if (call.key !== '') requireKey(call.key)
    const by = authenticate(endpoint.route.auth, exchange.header('authorization'), this.#options.parts.credentials)
    const { uploadLimitBytes } = endpoint.route
    if (uploadLimitBytes !== undefined) call.upload = new Upload(exchange, uploadLimitBytes)
    const takesBody = endpoint.takesBody && hasBody(exchange)
    if (by instanceof Promise) void this.#wait(call, by, takesBody)
    else if (takesBody) this.#receive(call, text => this.#run(call, by, text))
    else this.#run(call, by, '')
  }

  /** The credential has to be looked up; the body arrives meanwhile. Never rejects. */
  async #wait(call: Call, by: Promise<Principal>, takesBody: boolean): Promise<void> {
    const body = Promise.withResolvers<string>()
    // Strangers are told that they are strangers, so what is wrong with their body may never be asked for.
    body.promise.catch(() => {})
    try {
      if (takesBody) this.#receive(call, body.resolve)
      else body.resolve('')
    } catch (error) {
      body.reject(error)
    }
    try {
      this.#run(call, await by, await body.promise)
    } catch (error) {
      this.#refuse(call.exchange, error, call)
    }
  }

  #receive(call: Call, accept: (text: string) => void): void {
    const { exchange, endpoint } = call
    this.#bodies.receive(exchange, endpoint.bodyLimitBytes, accept, (refusal: Problem, isComplete: boolean) => {
      // What is left of the body would be taken for the next request.
      exchange.isLast ||= !isComplete
      this.#refuse(exchange, refusal, call)
    })
  }

  #run(call: Call, by: Principal, text: string): void {
    const { exchange, endpoint, values, choice, key, origin, address, upload } = call
    try {
      if (this.#rate !== null && by.kind === 'user') this.#rate.take(by.credential)
      const { method, path, query } = exchange
      const request = this.#toRequest({
        params: endpoint.toParams(values),
        query: endpoint.toQuery(query),
        body: endpoint.toBody(text),
        by,
        form: choice.form,
        once: key === '' ? undefined : toOnceKey({ key, credential: by.credential, method, path, body: text }),
        upload,
        origin,
        address,
        exchange,
      })
      const reply = endpoint.route.handle(request)
      if (!(reply instanceof Promise)) return this.#answer(call, reply)
      reply.then(
        settled => this.#answer(call, settled),
        (error: unknown) => this.#refuse(exchange, error, call),
      )
    } catch (error) {
      this.#refuse(exchange, error, call)
    }
  }

  #answer(call: Call, reply: Reply): void {
    const { exchange, choice, conditions } = call
    if (reply.body instanceof Download) {
      sendDownload(exchange, reply, reply.body, conditions).catch((error: unknown) =>
        this.#refuse(exchange, error, call),
      )
      return
    }
    try {
      this.#send(toAnswer(reply, choice), exchange, call.upload)
    } catch (error) {
      this.#refuse(call.exchange, error, call)
    }
  }

  #refuse(exchange: Exchange, error: unknown, call?: Call): void {
    if (error instanceof ClientGone) return
    const { method, path } = exchange
    const occasion = { method, path, source: call?.source ?? '' }
    try {
      this.#send(toProblemAnswer(error, occasion, this.#options.log), exchange, call?.upload)
    } catch (bug) {
      // A problem whose facts cannot be written is a bug of its own.
      exchange.answer(toProblemAnswer(bug, occasion, this.#options.log))
    }
  }

  #send(answer: Answer, exchange: Exchange, upload: Upload | undefined): void {
    if (upload === undefined) exchange.answer(answer)
    else void upload.answer(exchange, answer)
  }

  #end(exchange: Exchange, status: number): void {
    this.#open--
    const durations = exchange.durations ?? this.#unrouted
    durations.observe(status, (performance.now() - exchange.startedAt) / 1000)
    if (this.#open === 0) this.#onIdle?.()
  }
}

function toAllow(methods: string[]): string {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
}
