import { createHmac } from 'node:crypto'
import type { Span, Tracer } from '../../../lib/tracer.ts'
import { standardHeaders } from '../../../egress/standard-webhooks.ts'
import type { Egress } from '../../../egress/egress.ts'
import { EgressFailed } from '../../../egress/egress-failed.ts'
import type { Answer } from '../../../egress/exchange.ts'
import type { Outcome } from './store.ts'

/** Bytes kept of a receiver's answer; the rest is not read. */
const keepBytes = 65_536

/**
 * An attempt that ends so long after its deadline means that this node was suspended, and whether the request arrived
 * is unknown.
 */
const stillMs = 1_000

/** A request to a receiver. */
export interface Shipment {
  url: string
  /** Signs the body; null: unsigned. */
  secret: string | null
  /** The previous secret, which signs too while receivers are updated. */
  oldSecret?: string | null
  guid: string
  trigger: string
  body: string
}

/** Attempts at once, outside of the queues, for testing a receiver. */
export interface Pings {
  send(shipment: Shipment): Promise<Outcome>
}

export interface AttemptOptions {
  /** The limit of the whole exchange, after which the connection is closed. */
  deadlineMs: number
  userAgent: string
  /** Aborts the attempt, which then does not count. */
  signal: AbortSignal
  startedAt: Date
  /** Null where attempts are not traced. */
  tracer?: Tracer | null
}

/**
 * One signed POST, without redirects or a second try. Resolves with an outcome: any complete 2xx answer is a success,
 * everything else a failure; null where the attempt was aborted, by the signal or with a suspended node, and has to be
 * repeated.
 */
export async function attempt(egress: Egress, shipment: Shipment, options: AttemptOptions): Promise<Outcome | null> {
  const span = options.tracer ? startSpan(options.tracer, shipment) : null
  const outcome = await send(egress, shipment, options, span).catch((error: unknown) => {
    span?.end('fault')
    throw error
  })
  span?.add({ 'http.response.status_code': outcome?.status_code ?? undefined })
  span?.end(outcome === null ? 'stopped' : errorOf(outcome))
  return outcome
}

function errorOf({ status, status_code }: Outcome): string | undefined {
  return status === 'success' ? undefined : String(status_code ?? 'no answer')
}

/** Contains only the host: a receiver's path may be a secret. */
function startSpan(tracer: Tracer, { url, trigger, guid }: Shipment): Span {
  return tracer.start('POST webhook', {
    kind: 'client',
    facts: {
      'http.request.method': 'POST',
      'server.address': URL.parse(url)?.hostname,
      'parley.webhook.trigger': trigger,
      'parley.webhook.delivery': guid,
    },
  })
}

async function send(
  egress: Egress,
  shipment: Shipment,
  options: AttemptOptions,
  span: Span | null,
): Promise<Outcome | null> {
  const { url, body: text } = shipment
  const body = Buffer.from(text)
  const headers = toHeaders(shipment, body, options)
  if (span !== null) headers.traceparent = span.traceparent
  const started = { delivered_at: options.startedAt, body: text, request: { url, method: 'POST', headers } }
  const startedMs = performance.now()
  const { deadlineMs, signal } = options
  try {
    const answer = await egress.send({ url, method: 'POST', headers, body, deadlineMs, keepBytes, signal })
    return {
      ...started,
      status: answer.status >= 200 && answer.status < 300 ? 'success' : 'failure',
      duration_ms: performance.now() - startedMs,
      status_code: answer.status,
      response: describe(answer),
    }
  } catch (error) {
    if (!(error instanceof EgressFailed)) throw error
    const { fault, partial, message } = error
    const isLate = performance.now() - startedMs > deadlineMs + stillMs
    if (fault === 'stopped' || (fault === 'deadline' && isLate && partial === undefined)) return null
    return {
      ...started,
      status: 'failure',
      duration_ms: performance.now() - startedMs,
      status_code: partial?.status ?? null,
      response: { ...(partial && describe(partial)), error: message },
    }
  }
}

function toHeaders(
  { guid, trigger, secret, oldSecret = null }: Shipment,
  body: Buffer,
  { userAgent, startedAt }: AttemptOptions,
): Record<string, string> {
  const secrets = [secret, oldSecret].filter(one => one !== null)
  return {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(body.length),
    'User-Agent': userAgent,
    'X-Service-Delivery': guid,
    'X-Service-Trigger': trigger,
    ...(secret !== null && { 'X-Service-Signature': sign(body, secret) }),
    // The headers of Standard Webhooks; repeated attempts share the id.
    ...standardHeaders({ id: guid, at: startedAt, body }, secrets),
  }
}

function describe({ status, headers, body, isCut }: Answer) {
  // With `stream`, the decoder holds back a truncated character. PostgreSQL stores no NUL.
  const text = new TextDecoder().decode(body, { stream: isCut }).replaceAll('\0', '\uFFFD')
  return { status_code: status, headers, body: text }
}

/** `sha256=` and the lower-case hex HMAC-SHA256 of the exact bytes sent, keyed by the webhook's secret. */
export function sign(body: Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}
