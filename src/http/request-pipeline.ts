import type { Principal } from '../auth/principal.ts'
import { systemClock } from '../lib/clock.ts'
import { NotFound, Problem, problem } from '../lib/errors.ts'
import type { Entry } from './admin/door.ts'
import { chooseRepresentation, toAnswer, type RepresentationChoice } from './answer/representation.ts'
import { authenticate } from '../auth/authentication.ts'
import { challenge as bareChallenge } from '../auth/challenge.ts'
import { Bodies, hasBody, UnsupportedMediaType } from './request/body/body.ts'
import { preflightHeaders } from './answer/cors.ts'
import { Download, readConditions, sendDownload, unconditional, type Conditions } from './answer/download.ts'
import type { Endpoint } from './endpoint.ts'
import type { Answer, Exchange } from './server/exchange.ts'
import { toProblemAnswer } from './answer/problem-details.ts'
import { toChoice } from './request/field-errors.ts'
import { RateLimit } from './request/rate-limit.ts'
import type { ThreadTime } from './request/thread-time.ts'
import type { ProxyHeaders } from './request/head.ts'
import { RequestCaller, type RequestPlace } from './request/request-caller.ts'
import { requireIdempotencyKey, toIdempotencyKey } from './request/idempotency.ts'
import type { Router } from './router.ts'
import type { Reply, RouteRequest } from './route.ts'
import type { HttpServerOptions } from './server/server.ts'
import { Unknown } from './request/names/unknown.ts'
import { callerOf, type Caller, type Lane, type Turns } from './request/turns.ts'
import { ClientGone, Upload } from './request/body/upload.ts'

/** The longest path and query together: four times the longest useful list of filters. */
const targetLimit = 32 * 1024

const UriTooLong = problem(
  414,
  'uri-too-long',
  `The address of the request is longer than the ${targetLimit / 1024} KiB that this server reads.`,
)

/** Values read from a request before it is freed. */
interface Call {
  exchange: Exchange
  endpoint: Endpoint
  values: string[]
  choice: RepresentationChoice
  unknown: Unknown
  /** The User-Agent header. */
  source: string
  /** The Idempotency-Key header; empty if absent. */
  key: string
  headers: Record<string, string>
  origin: string
  /** Set for a request under /admin. */
  admin: Entry | undefined
  address: string | undefined
  /** The conditional and range headers of a download. */
  conditions: Conditions
  upload: Upload | undefined
  /** Set when the handler runs. */
  place: RequestPlace | undefined
}

/** What a request asks, as far as its headers and address say. */
interface Asked {
  by: Principal
  params: unknown
  query: unknown
  /** The body. */
  text: string
}

/** The place of a request among those of its caller. */
interface Turn {
  lane: Lane
  caller: Caller
}

interface RequestPipelineOptions extends HttpServerOptions {
  router: Router<Endpoint>
  /** The administration page's own routes, beside those of the API. */
  adminRouter: Router<Endpoint>
  /** Reads the facts of a request under /admin, or refuses it; null where administration is turned off. */
  enterAdmin: ((exchange: Exchange) => Entry) | null
  proxyHeaders: ProxyHeaders
  /** Whose turn it is, and what they have used of the event loop's time. */
  turns: Turns
  time: ThreadTime
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
  readonly #time: ThreadTime
  readonly #turns: Turns
  readonly #epochHeader: string

  constructor(options: RequestPipelineOptions) {
    const { signal, settings, clock = systemClock } = options
    this.#options = options
    this.#epochHeader = `\r\nX-Service-Epoch: ${options.epoch.id}`
    this.#bodies = new Bodies({ deadlineMs: settings.bodyDeadlineMs, clock, signal })
    this.#rate = settings.ratePerMinute === null ? null : new RateLimit(settings.ratePerMinute, () => clock.now())
    this.#time = options.time
    this.#turns = options.turns
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
      throw match.allowed.length > 0 ? methodNotAllowed(exchange, match.allowed) : noAddress(path, router)

    const { target: endpoint, values } = match
    exchange.durations = endpoint.durations
    const kit = exchange.header('x-weavy-source')
    const { streams } = endpoint.route
    const isStream = streams !== undefined && exchange.header('accept').includes(streams)
    const choice = chooseRepresentation(exchange.header('prefer'), kit, query, isStream)
    const call: Call = {
      exchange,
      endpoint,
      values,
      source: kit || exchange.header('x-service-source'),
      choice,
      unknown: new Unknown(choice.handling),
      key: endpoint.route.creates === true ? exchange.header('idempotency-key') : '',
      headers: readHeaders(exchange, endpoint.route.headers),
      origin: proxyHeaders.originOf(exchange),
      admin,
      address: proxyHeaders.forwardedAddressOf(exchange),
      conditions: endpoint.route.isDownload === true ? readConditions(exchange) : unconditional,
      upload: undefined,
      place: undefined,
    }
    if (call.key !== '') requireIdempotencyKey(call.key)
    const by = this.#authenticate(call)
    const { uploadLimitBytes } = endpoint.route
    if (uploadLimitBytes !== undefined) call.upload = new Upload(exchange, uploadLimitBytes, call.unknown)
    const takesBody = endpoint.takesBody && hasBody(exchange)
    if (by instanceof Promise) void this.#wait(call, by, takesBody)
    else if (takesBody) this.#receive(call, callerOf(by), text => this.#run(call, by, text))
    else this.#run(call, by, '')
  }

  #enter(exchange: Exchange): Entry {
    const { enterAdmin } = this.#options
    if (enterAdmin === null || exchange.port === 'public') throw NotFound()
    return enterAdmin(exchange)
  }

  #authenticate(call: Call): Principal | Promise<Principal> {
    const { resourceMetadata: path } = call.endpoint.route
    if (path === undefined) return this.#find(call)
    try {
      const found = this.#find(call)
      return found instanceof Promise
        ? found.catch(error => Promise.reject(withMetadata(error, call.origin + path)))
        : found
    } catch (error) {
      throw withMetadata(error, call.origin + path)
    }
  }

  #find({ exchange, endpoint: { route }, admin, address }: Call): Principal | Promise<Principal> {
    const { auth, takesGrants } = route
    if (admin === undefined || typeof auth !== 'string') {
      const addressOf = () => address ?? exchange.address
      return authenticate(auth, exchange.header('authorization'), this.#options.credentials, addressOf, takesGrants)
    }
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
      if (takesBody) this.#receive(call, null, body.resolve)
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

  #receive(call: Call, caller: Caller | null, accept: (text: string) => void): void {
    const { exchange, endpoint } = call
    this.#bodies.receive(
      exchange,
      { limitBytes: endpoint.bodyLimitBytes, caller, isForm: endpoint.route.takesForm === true },
      accept,
      (refusal: Problem, isLate: boolean) => {
        exchange.isLast ||= isLate
        this.refuse(exchange, refusal, call)
      },
    )
  }

  #run(call: Call, by: Principal, text: string): void {
    const { exchange, endpoint, values, unknown } = call
    try {
      if (this.#rate !== null && by.kind === 'user') this.#count(exchange, by.user, this.#rate)
      const asked = { by, params: endpoint.toParams(values), query: endpoint.toQuery(exchange.query, unknown), text }
      const caller = callerOf(by, endpoint.route.areCallersShared)
      if (caller === null) return this.#handle(call, asked, null)
      const turn = { lane: this.#turns.laneOf(endpoint.route, asked.query), caller }
      this.#time.asks(caller)
      if (turn.lane.queue.tryEnter(caller)) this.#serve(call, asked, turn)
      else this.#waitForTurn(call, asked, turn)
    } catch (error) {
      this.refuse(exchange, error, call)
    }
  }

  #count(exchange: Exchange, user: number, rate: RateLimit): void {
    try {
      rate.take(user)
    } finally {
      exchange.standing += rate.headersFor(user)
    }
  }

  #waitForTurn(call: Call, asked: Asked, { lane, caller }: Turn): void {
    const { exchange } = call
    const job = {
      sizeBytes: asked.text.length,
      start: () => {
        exchange.onGone = null
        this.#serve(call, asked, { lane, caller })
      },
    }
    if (!lane.queue.wait(caller, job)) throw lane.refusal()
    if (lane.isRead) exchange.onGone = () => lane.queue.remove(caller, job)
  }

  /** Handles a request whose turn has come. Its caller is charged for what of it is done before something is waited for. */
  #serve(call: Call, asked: Asked, turn: Turn): void {
    this.#time.measure(turn.caller, () => this.#handle(call, asked, turn))
  }

  /** Runs the handler, whose turn has come. The turn ends when it has settled. Never throws. */
  #handle(call: Call, { by: principal, params, query, text }: Asked, turn: Turn | null): void {
    const { exchange, endpoint, choice, unknown, key, headers, origin, admin, address, upload } = call
    const leave = () => turn?.lane.queue.leave(turn.caller)
    let reply: Reply | Promise<Reply>
    try {
      const { method, path } = exchange
      // The connection's address is read only where it is asked for: that costs a tenth of a whole request.
      const addressOf = () => address ?? exchange.address
      const isNoted = principal.kind === 'key' && method !== 'GET'
      const by = new RequestCaller(principal, isNoted ? { request: exchange.id, addressOf } : null)
      call.place = by.place
      const request = {
        params,
        query,
        body: endpoint.toBody(text, unknown),
        by,
        signal: turn?.lane.isHeavy === true ? signalOf(exchange) : undefined,
        representation: choice.representation,
        idempotencyKey: key === '' ? undefined : toIdempotencyKey({ key, by, method, path, body: text }),
        upload,
        headers,
        origin,
        addressOf,
        admin,
      } satisfies RouteRequest<unknown, unknown, unknown> & { admin: Entry | undefined }
      const { span } = exchange
      const { tracer } = this.#options
      reply =
        span === null || !tracer
          ? endpoint.route.handle(request)
          : tracer.within(span, () => endpoint.route.handle(request))
    } catch (error) {
      leave()
      return this.refuse(exchange, error, call)
    }
    if (!(reply instanceof Promise)) {
      leave()
      return this.#answer(call, reply)
    }
    reply.then(
      settled => {
        leave()
        this.#time.measure(turn?.caller ?? null, () => this.#answer(call, settled))
      },
      (error: unknown) => {
        leave()
        this.refuse(exchange, error, call)
      },
    )
  }

  #answer(call: Call, reply: Reply): void {
    const { exchange, choice, unknown, conditions, key, place } = call
    if (key !== '') exchange.standing += `\r\nIdempotency-Key: ${key}`
    const rev = place?.rev ?? null
    if (rev !== null) exchange.standing += `\r\nX-Service-Rev: ${rev}${this.#epochHeader}`
    const ignored = unknown.header
    if (ignored !== '') exchange.standing += `\r\nX-Service-Ignored: ${ignored}`
    if (reply.body instanceof Download) {
      const { id: request_id, method, path } = exchange
      const onCut = (error: Error) => this.#options.log.error({ request_id, method, path, error }, 'A download was cut')
      sendDownload(exchange, reply, reply.body, conditions, onCut).catch((error: unknown) =>
        this.refuse(exchange, error, call),
      )
      return
    }
    try {
      const answer = toAnswer(reply, choice)
      if (!(answer instanceof Promise)) return this.#send(answer, exchange, call.upload)
      answer
        .then(written => this.#send(written, exchange, call.upload))
        .catch((error: unknown) => this.refuse(exchange, error, call))
    } catch (error) {
      this.refuse(exchange, error, call)
    }
  }

  /** Answers with the problem for an error. */
  refuse(exchange: Exchange, error: unknown, call?: Call): void {
    if (error instanceof ClientGone) return
    const { method, path } = exchange
    const request = { request_id: exchange.id, method, path, source: call?.source ?? '' }
    try {
      const answer = toProblemAnswer(error, request, this.#options.log)
      answer.headers = { ...answer.headers, ...call?.choice.applied }
      this.#send(answer, exchange, call?.upload)
    } catch (bug) {
      // A problem that cannot be serialised is a bug of its own.
      exchange.answer(toProblemAnswer(bug, request, this.#options.log))
    }
  }

  #send(answer: Answer, exchange: Exchange, upload: Upload | undefined): void {
    if (upload === undefined) exchange.answer(answer)
    else upload.answer(answer)
  }
}

const noHeaders: Record<string, string> = {}

function readHeaders(exchange: Exchange, names: readonly string[] | undefined): Record<string, string> {
  return names === undefined ? noHeaders : Object.fromEntries(names.map(name => [name, exchange.header(name)]))
}

/** A 401 that also says where tokens come from (RFC 9728, section 5.1); any other error as it is. */
function withMetadata(error: unknown, url: string): unknown {
  if (!(error instanceof Problem) || error.status !== 401) return error
  const { challenge = bareChallenge, ...facts } = error.facts
  return new Problem(error.status, error.code, error.message, {
    ...facts,
    challenge: `${String(challenge)}, resource_metadata="${url}"`,
  })
}

/** Aborts when the client goes away. */
function signalOf(exchange: Exchange): AbortSignal {
  const gone = new AbortController()
  const abort = () => gone.abort(new ClientGone('The client went away'))
  if (exchange.isOver) abort()
  else exchange.onGone = abort
  return gone.signal
}

/** True for paths of the administration. */
export function isAdminPath(path: string): boolean {
  return path.startsWith('/admin') && (path.length === 6 || path[6] === '/')
}

function methodNotAllowed({ method, path }: Exchange, methods: string[]): Problem {
  const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']
  const detail = `${cut(path)} takes ${toChoice(allowed)}, not ${cut(method)}.`
  return new Problem(405, 'method-not-allowed', detail, { allow: allowed.join(', ') })
}

/** A 404 for a path that no route has, with one that it resembles. */
function noAddress(path: string, router: Router<Endpoint>): Problem {
  const nearest = router.nearest(path) ?? router.nearest(`/api${path}`)
  const hint = nearest === undefined ? 'The addresses are listed in /api/docs.' : `Did you mean ${nearest}?`
  return new Problem(NotFound.status, NotFound.code, `There is no address ${cut(path)} here. ${hint}`)
}

function cut(text: string): string {
  return text.length > 128 ? `${text.slice(0, 128)}…` : text
}
