import type { z } from 'zod'
import type { IdempotencyKey } from '../api/idempotency-key.ts'
import type { Principal } from '../auth/principal.ts'
import type { Auth } from '../auth/authentication.ts'
import type { ProblemType } from '../lib/errors.ts'
import type { Json, Scalars } from '../api/json.ts'
import type { Secret } from '../lib/secret.ts'
import type { Entry } from './admin/door.ts'
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

/** One request, checked. */
export interface RouteRequest<Params, Query, Body> {
  params: Params
  query: Query
  body: Body
  by: Principal
  form: Representation
  /** Set where the route creates and the client sent an Idempotency-Key: hand it to the command. */
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
  Services,
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
    services: Services,
  ) => Reply<keyof Replies & number> | Promise<Reply<keyof Replies & number>>
}

/** What a route declares of itself. */
export interface Contract {
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
}

/** A route as the edge sees it. */
export interface Route extends Contract {
  handle: (request: RouteRequest<unknown, unknown, unknown>) => Reply | Promise<Reply>
}

/** A route whose handler works with services that the edge knows nothing of. */
export interface ServedRoute<Services> extends Contract {
  handle: (request: RouteRequest<unknown, unknown, unknown>, services: Services) => Reply | Promise<Reply>
}

/**
 * What declares endpoints whose handlers get services. Types of params, query and body follow from the schemas; undeclared
 * statuses do not compile.
 */
export function routesFor<Services>() {
  return function route<
    Params extends z.ZodType | undefined = undefined,
    Query extends z.ZodType | undefined = undefined,
    Body extends z.ZodType | undefined = undefined,
    Replies extends Record<number, z.ZodType | null> = Record<number, never>,
  >(declared: RouteDeclaration<Params, Query, Body, Replies, Services>): ServedRoute<Services> {
    // The edge calls `handle` only with what the declared schemas put out, so the wider type is safe to forget.
    return declared as unknown as ServedRoute<Services>
  }
}

/** Declares an endpoint whose handler needs nothing but the request. */
export const route = routesFor<void>()

/** Routes as the edge sees them: their handlers get these services. */
export function serve<Services>(routes: readonly ServedRoute<Services>[], services: Services): Route[] {
  return routes.map(served => ({ ...served, handle: request => served.handle(request, services) }))
}
