import type { Principal } from '../auth/principal.ts'
import { systemClock } from '../lib/clock.ts'
import { NotFound, problem, type Problem } from '../lib/errors.ts'
import type { Entry } from './admin/door.ts'
import { chooseRepresentation, toAnswer, type RepresentationChoice } from './answer/representation.ts'
import { authenticate } from '../auth/authentication.ts'
import { Bodies, hasBody, UnsupportedMediaType } from './request/body.ts'
import { preflightHeaders } from './answer/cors.ts'
import { Download, readConditions, sendDownload, unconditional, type Conditions } from './answer/download.ts'
import type { Endpoint } from './endpoint.ts'
import type { Answer, Exchange } from './server/exchange.ts'
import { toProblemAnswer } from './answer/problem-details.ts'
import { RateLimit } from './request/rate-limit.ts'
import type { ProxyHeaders } from './request/head.ts'
import { KeyCaller } from './request/key-caller.ts'
import { requireIdempotencyKey, toIdempotencyKey } from './request/idempotency.ts'
import type { Router } from './router.ts'
import type { Reply, RouteRequest } from './route.ts'
import type { HttpServerOptions } from './server/server.ts'
import { ClientGone, Upload } from './request/upload.ts'

const UriTooLong = problem(414, 'uri-too-long', 'The address of the request is too long.')
const MethodNotAllowed = problem(405, 'method-not-allowed', 'This address does not have this method.')

/** The longest path and query together: four times the longest useful list of filters. */
const targetLimit = 32 * 1024

/** Values read from a request before it is freed. */
interface Call {
  exchange: Exchange
  endpoint: Endpoint
  values: string[]
  choice: RepresentationChoice
  /** The User-Agent header. */
  source: string
  /** The Idempotency-Key header; empty if absent. */
  key: string
  origin: string
  /** Set for a request under /admin. */
  admin: Entry | undefined
  address: string | undefined
  /** The conditional and range headers of a download. */
  conditions: Conditions
  upload: Upload | undefined
}

interface RequestPipelineOptions extends HttpServerOptions {
  router: Router<Endpoint>
  /** The administration page's own routes, beside those of the API. */
  adminRouter: Router<Endpoint>
  /** Reads the facts of a request under /admin, or refuses it; null where administration is turned off. */
  enterAdmin: ((exchange: Exchange) => Entry) | null
  proxyHeaders: ProxyHeaders
  /** Aborts when the server closes. */
  signal: AbortSignal
}

/**
 * Processes requests: finds the endpoint, authenticates the caller, reads the body, runs the route's handler, and
 * answers with its reply or a refusal. Finishes every exchange that it begins.
 */
export class RequestPipeline {
  readonly #options: RequestPipelineOptions
  readonly #bodies: Bodies
  readonly #rate: RateLimit | null

  constructor(options: RequestPipelineOptions) {
    const { signal, settings, clock = systemClock } = options
    this.#options = options
    this.#bodies = new Bodies({ deadlineMs: settings.bodyDeadlineMs, clock, signal })
    this.#rate = settings.ratePerMinute === null ? null : new RateLimit(settings.ratePerMinute, () => clock.now())
  }

  /** Does everything that needs the request itself, which is freed when this returns. */
  begin(exchange: Exchange): void {
    const { method, path, query } = exchange
    const { router, adminRouter, proxyHeaders } = this.#options
    const admin = isAdminPath(path) ? this.#enter(exchange) : undefined
    if (admin === undefined && exchange.port === 'admin') throw NotFound()
    if (method === 'OPTIONS') return exchange.answer({ status: 204, headers: preflightHeaders })
    if (path.length + query.length > targetLimit) throw UriTooLong()
    const routes = admin !== undefined && admin.apiPath === null ? adminRouter : router
    const match = routes.find(method === 'HEAD' ? 'GET' : method, admin?.apiPath ?? path)
    if ('allowed' in match)
      throw match.allowed.length === 0 ? NotFound() : MethodNotAllowed({ allow: toAllow(match.allowed) })

    const { target: endpoint, values } = match
    exchange.durations = endpoint.durations
    const kit = exchange.header('x-weavy-source')
    const { streams } = endpoint.route
    const isStream = streams !== undefined && exchange.header('accept').includes(streams)
    const call: Call = {
      exchange,
      endpoint,
      values,
      source: kit || exchange.header('x-service-source'),
      choice: chooseRepresentation(exchange.header('prefer'), kit, query, isStream),
      key: endpoint.route.creates === true ? exchange.header('idempotency-key') : '',
      origin: proxyHeaders.originOf(exchange),
      admin,
      address: proxyHeaders.forwardedAddressOf(exchange),
      conditions: endpoint.route.isDownload === true ? readConditions(exchange) : unconditional,
      upload: undefined,
    }
    if (call.key !== '') requireIdempotencyKey(call.key)
    const by = this.#authenticate(exchange, endpoint, admin)
    const { uploadLimitBytes } = endpoint.route
    if (uploadLimitBytes !== undefined) call.upload = new Upload(exchange, uploadLimitBytes)
    const takesBody = endpoint.takesBody && hasBody(exchange)
    if (by instanceof Promise) void this.#wait(call, by, takesBody)
    else if (takesBody) this.#receive(call, text => this.#run(call, by, text))
    else this.#run(call, by, '')
  }

  #enter(exchange: Exchange): Entry {
    const { enterAdmin } = this.#options
    if (enterAdmin === null || exchange.port === 'public') throw NotFound()
    return enterAdmin(exchange)
  }

  #authenticate(exchange: Exchange, { route }: Endpoint, admin: Entry | undefined): Principal | Promise<Principal> {
    const { auth } = route
    if (admin === undefined || typeof auth !== 'string')
      return authenticate(auth, exchange.header('authorization'), this.#options.credentials)
    // An HTML form can be submitted by any page.
    if (route.uploadLimitBytes !== undefined) throw UnsupportedMediaType()
    return admin.authenticate(auth)
  }

  /** Looks the credential up while the body arrives. Never rejects. */
  async #wait(call: Call, by: Promise<Principal>, takesBody: boolean): Promise<void> {
    const body = Promise.withResolvers<string>()
    // Callers without a valid credential get 401, so an error of the body may never be awaited.
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
      this.refuse(call.exchange, error, call)
    }
  }

  #receive(call: Call, accept: (text: string) => void): void {
    const { exchange, endpoint } = call
    this.#bodies.receive(exchange, endpoint.bodyLimitBytes, accept, (refusal: Problem, isComplete: boolean) => {
      // The rest of the body would be read as the next request.
      exchange.isLast ||= !isComplete
      this.refuse(exchange, refusal, call)
    })
  }

  #run(call: Call, principal: Principal, text: string): void {
    const { exchange, endpoint, values, choice, key, origin, admin, address, upload } = call
    try {
      const { method, path, query } = exchange
      // The connection's address is read only where it is asked for: that costs a tenth of a whole request.
      const addressOf = () => address ?? exchange.address
      const by =
        principal.kind === 'key' && method !== 'GET' ? new KeyCaller(principal, exchange.id, addressOf) : principal
      if (this.#rate !== null && by.kind === 'user') this.#rate.take(by.credential)
      const request = {
        params: endpoint.toParams(values),
        query: endpoint.toQuery(query),
        body: endpoint.toBody(text),
        by,
        representation: choice.representation,
        idempotencyKey: key === '' ? undefined : toIdempotencyKey({ key, by, method, path, body: text }),
        upload,
        origin,
        addressOf,
        admin,
      } satisfies RouteRequest<unknown, unknown, unknown> & { admin: Entry | undefined }
      const { span } = exchange
      const { tracer } = this.#options
      const reply =
        span === null || !tracer
          ? endpoint.route.handle(request)
          : tracer.within(span, () => endpoint.route.handle(request))
      if (!(reply instanceof Promise)) return this.#answer(call, reply)
      reply.then(
        settled => this.#answer(call, settled),
        (error: unknown) => this.refuse(exchange, error, call),
      )
    } catch (error) {
      this.refuse(exchange, error, call)
    }
  }

  #answer(call: Call, reply: Reply): void {
    const { exchange, choice, conditions } = call
    if (reply.body instanceof Download) {
      const { id: request_id, method, path } = exchange
      const onCut = (error: Error) => this.#options.log.error({ request_id, method, path, error }, 'A download was cut')
      sendDownload(exchange, reply, reply.body, conditions, onCut).catch((error: unknown) =>
        this.refuse(exchange, error, call),
      )
      return
    }
    try {
      this.#send(toAnswer(reply, choice), exchange, call.upload)
    } catch (error) {
      this.refuse(call.exchange, error, call)
    }
  }

  /** Answers with the problem for an error. */
  refuse(exchange: Exchange, error: unknown, call?: Call): void {
    if (error instanceof ClientGone) return
    const { method, path } = exchange
    const request = { request_id: exchange.id, method, path, source: call?.source ?? '' }
    try {
      this.#send(toProblemAnswer(error, request, this.#options.log), exchange, call?.upload)
    } catch (bug) {
      // A problem that cannot be serialised is a bug of its own.
      exchange.answer(toProblemAnswer(bug, request, this.#options.log))
    }
  }

  #send(answer: Answer, exchange: Exchange, upload: Upload | undefined): void {
    if (upload === undefined) exchange.answer(answer)
    else void upload.answer(exchange, answer)
  }
}

/** True for paths of the administration. */
export function isAdminPath(path: string): boolean {
  return path.startsWith('/admin') && (path.length === 6 || path[6] === '/')
}

function toAllow(methods: string[]): string {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
}
