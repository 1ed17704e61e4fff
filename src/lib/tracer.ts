export type SpanFacts = Record<string, string | number | boolean | undefined>

/** Begins spans. Where tracing is off, traceable parts get null, and pay for one comparison. */
export interface Tracer {
  /**
   * Begins a span as a child of `parent`: a `traceparent` of W3C Trace Context, or a span. Where that is absent or
   * malformed, it is a child of the active span.
   */
  start(name: string, options: SpanOptions): Span
  /** Calls `run`, in which, and in all that it awaits, the span is active. */
  within<Result>(span: Span, run: () => Result): Result
  /** The active span. */
  current(): Span | null
}

export interface SpanOptions {
  /** `server`: answers a request; `client`: sends one. */
  kind: 'server' | 'client' | 'internal'
  parent?: string | Span | undefined
  /** Related spans that are not its parent: the requests whose writes share a commit. */
  links?: readonly Span[]
  /** Attributes, named as in OpenTelemetry's semantic conventions where these have a name. */
  facts?: SpanFacts
}

export interface Span {
  /** The `traceparent` header of requests made within this span (W3C Trace Context). */
  readonly traceparent: string
  rename(name: string): void
  add(facts: SpanFacts): void
  /** Ends the span. `error`, a short name for the kind of failure and never user content, marks it as failed. */
  end(error?: string): void
}
