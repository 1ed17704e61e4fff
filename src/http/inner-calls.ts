import { requirePrincipal } from '../auth/authentication.ts'
import type { Principal } from '../auth/principal.ts'
import { NotFound } from '../lib/errors.ts'
import { toAnswer, type RepresentationChoice } from './answer/representation.ts'
import type { Endpoint } from './endpoint.ts'
import { toIdempotencyKey } from './request/idempotency.ts'
import { Unknown } from './request/names/unknown.ts'
import type { ThreadTime } from './request/thread-time.ts'
import { callerOf, type Turns } from './request/turns.ts'
import type { ReadableUpload } from './request/body/upload.ts'
import type { Method, Reply } from './route.ts'
import type { Router } from './router.ts'

/** A request to an endpoint of this server, made by a handler of another one for its caller. */
export interface InnerCall {
  method: Method
  /** Percent-encoded. */
  path: string
  query?: string
  body?: object
  /** The form of an upload, with its content type. */
  upload?: Pick<ReadableUpload, 'contentType'> & AsyncIterable<Uint8Array>
  /** As the header Idempotency-Key: a repeated call has the result of the first one. */
  key?: string
  by: Principal
  origin: string
  addressOf: () => string
}

const choice: RepresentationChoice = {
  representation: { scalars: 'number', items: 'details', inner: 'first', isStream: false },
  handling: 'strict',
  applied: undefined,
}

/**
 * Makes requests to endpoints within the process: by the same handlers, with the same schemas, checks of rights and turns
 * as requests that come over the network. Rejects with the refusal.
 */
export class InnerCalls {
  readonly #router: () => Router<Endpoint>
  readonly #turns: Turns
  readonly #time: ThreadTime

  /** `router` is asked at each call: the endpoints that make calls are among its own. */
  constructor(router: () => Router<Endpoint>, turns: Turns, time: ThreadTime) {
    this.#router = router
    this.#turns = turns
    this.#time = time
  }

  /** The JSON of the answer; undefined where it has none. */
  async call(call: InnerCall): Promise<unknown> {
    const { body } = await toAnswer(await this.ask(call), choice)
    return body === undefined ? undefined : JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString())
  }

  /** The reply of the handler, such as a Download. */
  async ask({ method, path, query = '', body, upload, key, by, origin, addressOf }: InnerCall): Promise<Reply> {
    const match = this.#router().find(method, path)
    if ('allowed' in match) throw NotFound()
    const { target: endpoint, values } = match
    const { route } = endpoint
    if (typeof route.auth === 'string') requirePrincipal(route.auth, by)
    const unknown = new Unknown(choice.handling)
    const text = body === undefined ? '' : JSON.stringify(body)
    const asked = endpoint.toQuery(query, unknown)
    const request = {
      params: endpoint.toParams(values),
      query: asked,
      body: endpoint.toBody(text, unknown),
      by,
      representation: choice.representation,
      idempotencyKey: key === undefined ? undefined : toIdempotencyKey({ key, by, method, path, body: text }),
      upload: upload && toReadable(upload, unknown),
      headers: {},
      origin,
      addressOf,
    }
    const caller = callerOf(by)
    if (caller === null) return route.handle(request)
    const { queue, refusal } = this.#turns.laneOf(route, asked)
    return queue.add(caller, () => this.#time.measure(caller, () => route.handle(request)), refusal)
  }
}

function toReadable(upload: NonNullable<InnerCall['upload']>, unknown: Unknown): ReadableUpload {
  return {
    contentType: upload.contentType,
    unknown,
    recycle() {},
    [Symbol.asyncIterator]: () => upload[Symbol.asyncIterator](),
  }
}
