import { AsyncLocalStorage } from 'node:async_hooks'
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span as OtelSpan,
  type SpanContext,
  type Tracer as OtelTracer,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace'
import type { Log } from '../lib/log.ts'
import type { Secret } from '../lib/secret.ts'
import type { Span, SpanFacts, SpanOptions, Tracer } from '../lib/tracer.ts'

export interface TraceSettings {
  /** Where the collector listens; traces go to /v1/traces below it. */
  endpoint: string
  /** Sent with each request, as `name=value` pairs. */
  headers: Secret | null
  serviceName: string
  /** The share of traces that begin here and are kept. */
  ratio: number
}

interface TracesParts extends TraceSettings {
  version: string
  /** The id of this node. */
  node: string
  log: Log
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL }

/**
 * Sends spans to an OpenTelemetry collector by OTLP over HTTP. Imported only where that is configured. Up to 2,048
 * spans wait in memory, and are lost where the collector does not accept them; that is logged once.
 */
export class Traces implements Tracer {
  readonly #provider: TracerProvider
  readonly #tracer: OtelTracer
  readonly #active = new AsyncLocalStorage<TracedSpan>()

  constructor({ endpoint, headers, serviceName, ratio, version, node, log }: TracesParts) {
    const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers: toHeaders(headers) })
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({
        'service.name': serviceName,
        'service.version': version,
        'service.instance.id': node,
      }),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
      spanProcessors: [new BatchSpanProcessor({ exporter: watched(exporter, log) })],
    })
    this.#tracer = this.#provider.getTracer('parley', version)
  }

  start(name: string, { kind, parent, links = [], facts }: SpanOptions): Span {
    const span = this.#tracer.startSpan(
      name,
      {
        kind: kinds[kind],
        links: links.map(link => ({ context: (link as TracedSpan).context })),
        ...(facts && { attributes: withoutUndefined(facts) }),
      },
      this.#contextOf(parent),
    )
    return new TracedSpan(span)
  }

  within<Result>(span: Span, run: () => Result): Result {
    return this.#active.run(span as TracedSpan, run)
  }

  current(): Span | null {
    return this.#active.getStore() ?? null
  }

  /** Sends the waiting spans; later ones are dropped. */
  async close(): Promise<void> {
    await this.#provider.shutdown()
  }

  #contextOf(parent: string | Span | undefined): Context {
    const given = typeof parent === 'string' ? readTraceparent(parent) : (parent as TracedSpan | undefined)?.context
    const context = given ?? this.#active.getStore()?.context
    return context === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, context)
  }
}

class TracedSpan implements Span {
  readonly #span: OtelSpan

  constructor(span: OtelSpan) {
    this.#span = span
  }

  get context(): SpanContext {
    return this.#span.spanContext()
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.context
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  }

  rename(name: string): void {
    this.#span.updateName(name)
  }

  add(facts: SpanFacts): void {
    this.#span.setAttributes(withoutUndefined(facts))
  }

  end(error?: string): void {
    if (error !== undefined) {
      this.#span.setAttribute('error.type', error)
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message: error })
    }
    this.#span.end()
  }
}

const traceparentForm = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

/** Parses a `traceparent` header; undefined for one that W3C Trace Context ignores. */
function readTraceparent(header: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = traceparentForm.exec(header) ?? []
  if (traceId === undefined) return undefined
  const traceFlags = Number.parseInt(flags!, 16) & TraceFlags.SAMPLED
  return { traceId, spanId: spanId!, traceFlags, isRemote: true }
}

/**
 * Parses `name=value` pairs as OpenTelemetry's OTEL_EXPORTER_OTLP_HEADERS has them: comma-separated, values
 * percent-encoded.
 */
function toHeaders(headers: Secret | null): Record<string, string> {
  const pairs = (headers?.reveal() ?? '').split(',').flatMap(pair => {
    const at = pair.indexOf('=')
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())] as const]
  })
  return Object.fromEntries(pairs)
}

/** Wraps an exporter, and logs once when it begins to fail and once when it succeeds again. */
function watched(exporter: SpanExporter, log: Log): SpanExporter {
  let hasFailed = false
  return {
    export(spans, done) {
      exporter.export(spans, result => {
        const isFailure = result.error !== undefined
        if (isFailure && !hasFailed) log.warn({ error: result.error }, 'Traces cannot be sent; some are lost')
        if (!isFailure && hasFailed) log.info({}, 'Traces are sent again')
        hasFailed = isFailure
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  }
}

function withoutUndefined(facts: SpanFacts): Record<string, string | number | boolean> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Record<
    string,
    string | number | boolean
  >
}
