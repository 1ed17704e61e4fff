import type { IdempotencyKey } from '../api/idempotency-key.ts'
import type { Principal } from '../auth/principal.ts'
import type { Entry } from './admin/door.ts'
import type { Exchange } from './server/exchange.ts'
import type { Representation, RouteRequest } from './route.ts'
import type { Upload } from './request/upload.ts'

interface Values extends Omit<CheckedRequest, 'address'> {
  /** The address that a proxy reported; undefined: that of the connection, read when a handler asks for it. */
  address: string | undefined
  exchange: Exchange
}

/**
 * The request that a handler gets. Reads the connection's address only where a handler asks: it costs a tenth of a
 * whole request.
 */
export class CheckedRequest implements RouteRequest<unknown, unknown, unknown> {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly by: Principal
  readonly representation: Representation
  readonly idempotencyKey: IdempotencyKey | undefined
  readonly upload: Upload | undefined
  readonly origin: string
  /** Set where the request came in under /admin: only routes that are there are declared with it. */
  readonly admin: Entry | undefined
  readonly #address: string | undefined
  readonly #exchange: Exchange

  constructor({
    params,
    query,
    body,
    by,
    representation,
    idempotencyKey,
    upload,
    origin,
    admin,
    address,
    exchange,
  }: Values) {
    this.params = params
    this.query = query
    this.body = body
    this.by = by
    this.representation = representation
    this.idempotencyKey = idempotencyKey
    this.upload = upload
    this.origin = origin
    this.admin = admin
    this.#address = address
    this.#exchange = exchange
  }

  get address(): string {
    return this.#address ?? this.#exchange.address
  }
}
