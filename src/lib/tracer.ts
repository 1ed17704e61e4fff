export type SpanFacts = Record<string, string | number | boolean | undefined>

/** Begins spans. Parts that can be traced are given null where no traces are wanted, and then pay for one comparison. */
export interface Tracer {
  /**
   * Begins a span: beneath `parent` (a `traceparent` as W3C Trace Context has it, or another span), or where that is absent
   * or makes no sense, beneath the span that is active.
   */
  start(name: string, options: SpanOptions): Span
  /** Calls `run`; the span is active in it, and in all that it awaits. */
  within<Result>(span: Span, run: () => Result): Result
  /** The active span. */
  current(): Span | null
}

export interface SpanOptions {
  /** `server`: answers others; `client`: asks others. */
  kind: 'server' | 'client' | 'internal'
  parent?: string | Span | undefined
  /** What belongs to it without being its cause: the requests whose writes share a commit. */
  links?: readonly Span[]
  /** Names follow the semantic conventions of OpenTelemetry, where these have one. */
  facts?: SpanFacts
}

export interface Span {
  /** For whom is asked, as a header. */
  readonly traceparent: string
  rename(name: string): void
  add(facts: SpanFacts): void
  /** With an error, the span has failed: a short name for the kind of it, never what people wrote. */
  end(error?: string): void
}
