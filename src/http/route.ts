import type { z } from 'zod'
import type { IdempotencyKey } from '../api/idempotency-key.ts'
import type { Principal } from '../auth/principal.ts'
import type { Auth } from '../auth/authentication.ts'
import type { ProblemType } from '../lib/errors.ts'
import type { Json, Scalars } from '../api/json.ts'
import type { Secret } from '../lib/secret.ts'
import type { Entry } from './admin/door.ts'
import type { ReadableUpload } from './request/body/upload.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** The representation that the caller chose. */
export interface Representation {
  /** How numbers are written. */
  scalars: Scalars
  /** Whether list items are whole. */
  items: 'summary' | 'details'
  /** Whether nested lists of items are, within one answer. */
  inner: 'first' | 'all'
  /** True where the client asks for the media type that the route `streams`. */
  isStream: boolean
}

/** A request whose parts have been checked by the route's schemas. */
export interface RouteRequest<Params, Query, Body> {
  params: Params
  query: Query
  body: Body
  by: Principal
  representation: Representation
  /** Set where the route creates and the client sent an Idempotency-Key; to be passed to the command. */
  idempotencyKey: IdempotencyKey | undefined
  /** The raw body, where the route declares `uploadLimitBytes`. Unread bytes are dropped. */
  upload: ReadableUpload | undefined
  /** The headers that the route reads, by name; empty where absent. */
  headers: Readonly<Record<string, string>>
  /** The origin under which the client reaches this server, without a trailing slash: for absolute URLs. */
  origin: string
  /** Aborts when the client goes away; set for heavy reads. */
  signal?: AbortSignal | undefined
  /** The client's IP address. Call it before the first await: it is empty once the client has gone away. */
  addressOf: () => string
}

/** The further members of a request under /admin. */
export interface UnderAdmin {
  admin: Entry
}

export interface Reply<Status extends number = number> {
  status: Status
  /** An object for the JSON writer, an encoded `Json` or `Encoded`, a string for text/plain, or a Download. */
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

/** What is declared of an endpoint: who may call it, its input, its replies and its refusals. */
interface Terms {
  summary: string
  /** Markdown: what the summary leaves open. */
  description?: string
  /** A Secret is a bearer token of this route alone, instead of the API's credentials. */
  auth: Auth | Secret
  /** Values are strings, percent-decoded. */
  params?: z.ZodType
  /** Values are strings; a schema member that is an array collects repeated parameters. Unknown ones are refused. */
  query?: z.ZodType
  /**
   * True where other programs add parameters of their own, which are then ignored: probes of health checks, libraries,
   * links to pages.
   */
  takesAnyQuery?: boolean
  /** JSON. An empty body counts as `{}`. Unknown members are refused where they resemble known ones. */
  body?: z.ZodType
  /** True where the body is a form, as OAuth and pages without a script send it; its values are strings. */
  takesForm?: boolean
  /** Default: 4 MiB, or 64 KiB without a credential; more where a data URI may be sent. */
  bodyLimitBytes?: number
  /** For a raw body: the handler reads it as `upload` while it arrives, up to this size. */
  uploadLimitBytes?: number
  /** Then: the part of a multipart form that holds the file (RFC 7578). */
  uploadPart?: string
  /** True where replies may be a Download, which needs the conditional and range headers. */
  isDownload?: boolean
  /**
   * True for a read whose cost follows from what is stored and not from what it answers, or a function of its query that
   * says so. Lists need not say so for searches and deep pages; see `Turns`.
   */
  isHeavy?: boolean | ((query: unknown) => boolean)
  /**
   * True where the handler makes requests of its own for its caller (see `InnerCalls`), which take turns as well: it has
   * turns of another kind, so that it never waits for itself, and may take as long as it likes.
   */
  makesCalls?: boolean
  /** True for a read without a credential that costs more than a look-up: all such callers share the time of one user. */
  areCallersShared?: boolean
  /** The headers that the handler reads, in lower case. */
  headers?: readonly string[]
  /** True where tokens are accepted that users have let clients have. */
  takesGrants?: boolean
  /** The path of what says where tokens come from (RFC 9728), which a 401 then names. */
  resourceMetadata?: string
  /** True where the handler waits for another server. */
  asksOthers?: boolean
  /**
   * A media type that the client may ask for by Accept, beside JSON: the reply is then a Download, sent as it is made.
   */
  streams?: string
  /**
   * True for a POST that creates or votes, and so honours the Idempotency-Key header. An upload adds its content to the
   * key.
   */
  creates?: boolean
  /** Status → schema of the body; null where there is none. */
  replies: Record<number, z.ZodType | null>
  /** The refusals, beside 401, 422 and the general ones, which the HTTP server adds itself. */
  problems?: ProblemType[]
}

/** The terms of an endpoint, and the handler that gets what the schemas have checked. */
interface Declared<Params, Query, Body, Replies, Context, Beside> extends Terms {
  params?: Params & z.ZodType
  query?: Query & z.ZodType
  body?: Body & z.ZodType
  replies: Replies & Terms['replies']
  handle: (
    request: RouteRequest<Output<Params>, Output<Query>, Output<Body>> & Beside,
    context: Context,
  ) => Reply<keyof Replies & number> | Promise<Reply<keyof Replies & number>>
}

/** An endpoint without its handler. */
export interface Contract extends Terms {
  method: Method
  /** `{name}` matches one path segment. */
  path: string
}

/** A route whose handler gets a context, of which the HTTP server knows only who asks. */
export interface ServedRoute<Context> extends Contract {
  handle: (request: RouteRequest<unknown, unknown, unknown>, context: Context) => Reply | Promise<Reply>
}

/** Who asks, from where, and for which form of the answer: the part of a request that handlers pass on. */
export type Asking = Pick<RouteRequest<unknown, unknown, unknown>, 'by' | 'representation' | 'origin'>

/** A route as the HTTP server sees it. */
export type Route = ServedRoute<void>

/**
 * Returns the function that declares endpoints, such as `GET /api/apps/{app}`, whose handlers get a `Context`. The types
 * of params, query and body follow from the schemas; undeclared statuses do not compile. `Beside` are further members of
 * their requests.
 */
export function routesFor<Context, Beside = unknown>() {
  return function route<
    Params extends z.ZodType | undefined = undefined,
    Query extends z.ZodType | undefined = undefined,
    Body extends z.ZodType | undefined = undefined,
    Replies extends Record<number, z.ZodType | null> = Record<number, never>,
  >(
    endpoint: `${Method} ${string}`,
    declared: Declared<Params, Query, Body, Replies, Context, Beside>,
  ): ServedRoute<Context> {
    const [method, path] = endpoint.split(' ')
    // `handle` is called with the output of the declared schemas only, so forgetting the exact types is safe.
    return { method, path, ...declared } as unknown as ServedRoute<Context>
  }
}

/** Declares an endpoint whose handler needs only the request. */
export const route = routesFor<void>()

/** The same under /admin. */
export const adminRoute = routesFor<void, UnderAdmin>()

/**
 * Gives the handlers of routes their context: services, and who asks. `endWith` makes the services of a request that ends
 * with a signal.
 */
export function serve<Services extends object>(
  routes: readonly ServedRoute<Services & Asking>[],
  services: Services,
  endWith: (signal: AbortSignal) => Services = () => services,
): Route[] {
  return routes.map(served => ({
    ...served,
    handle(request) {
      const { by, representation, origin, signal } = request
      const own = signal === undefined ? services : endWith(signal)
      return served.handle(request, { ...own, by, representation, origin })
    },
  }))
}
