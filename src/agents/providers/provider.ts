import type { Tool } from '../tools/tool.ts'

/**
 * A vendor of language models, or a server with its protocol: asks the model and yields its answer as it comes; ends
 * after one `end`. Throws ProviderFailed where the vendor refuses, breaks off, is silent for 60 s, or sends an unreadable
 * answer; the consumer may ask once more where `isRetryable`. Aborting the signal closes the connection. A request holds
 * all that the model needs, so another node can continue a run.
 */
export type Provider = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>

export interface ModelRequest {
  model: string
  /** The agent's name. */
  agent: string
  system: string
  /** The first is the user's; the last is the user's, or holds the results of the step before it. */
  turns: Turn[]
  /**
   * The trigger's text alone, with mentions as `@Name` and without its author's name, as near the end of the user's
   * last turn: for providers that take a question instead of a conversation.
   */
  question: string
  /** What else is in that turn before the question, in order, for the same providers. */
  excerpts: readonly Excerpt[]
  /** For providers that keep conversations: the `thread` of the last `end` in this conversation. */
  thread: string | null
  tools: readonly Tool[]
  /** False: the model must answer now; it gets no tools. */
  mayCall?: false
  webSearch: boolean
  /** Longest answer in tokens; null: the provider's default. */
  maxTokens: number | null
  /** The asker and the conversation, opaque and stable: base64url HMAC-SHA-256, 32 characters. */
  person: string
  conversation: string
  /** The number of failed attempts of this request within the run's current claim. */
  attempt: number
}

export type UserPart = { text: string } | { image: Buffer; type: string }

export type Turn =
  | { role: 'user'; parts: UserPart[] }
  /** An earlier answer of the agent. */
  | { role: 'agent'; text: string }
  /** An earlier step of this answer: the `body` of its `end`, verbatim. For another provider, its text counts. */
  | { role: 'step'; provider: string; body: unknown; text: string; calls: Call[] }
  /** The results of the calls of the step before, in its order. */
  | { role: 'results'; results: CallResult[] }

/** Data given with a question, as much of it as fits: of a file, a blob of its context, a passage of knowledge. */
export interface Excerpt {
  kind: 'passage' | 'context' | 'file'
  /** The number to cite, for a passage. */
  n: number | undefined
  content: string
  /** The content as it is given, within its `<data …>` element. */
  text: string
}

export interface CallResult {
  id: string
  name: string
  text: string
  isError: boolean
  /** For providers that take images in results; others tell the model `[image]`. */
  images?: { image: Buffer; type: string }[]
}

export type ModelEvent =
  | { type: 'text'; text: string }
  | { type: 'source'; url: string; title: string }
  /** Tokens of this request so far. */
  | ({ type: 'usage' } & Usage)
  | {
      type: 'end'
      /** `pause`: the vendor wants another request with this step appended. */
      reason: 'stop' | 'calls' | 'length' | 'filtered' | 'pause'
      calls: Call[]
      /** JSON to be returned to the vendor in the next request; opaque to all others. */
      body: unknown
      /** The vendor's id of the request, for its support. */
      requestId?: string | undefined
      /** To be passed with the next request of this conversation. */
      thread?: string | undefined
    }

/** Numbers of tokens. */
export interface Usage {
  in: number
  out: number
  cached: number
}

/** A tool that the model wants to be called. */
export interface Call {
  id: string
  name: string
  /** JSON text, possibly malformed. */
  arguments: string
}

/** The public reason of a failure: see the table of error replies. */
export type FailureCode = 'provider_not_configured' | 'provider_error' | 'timeout' | 'content_filtered' | 'too_long'

interface Failure {
  code: FailureCode
  /** HTTP status of the vendor's answer; null where there was none. */
  status?: number | null
  isRetryable: boolean
  /** The pause that the vendor asks for; null without one. */
  retryAfterMs?: number | null
  cause?: unknown
}

/** A vendor did not answer. The message is for logs only: at most 300 characters, without keys. */
export class ProviderFailed extends Error {
  readonly code: FailureCode
  readonly status: number | null
  readonly isRetryable: boolean
  readonly retryAfterMs: number | null

  constructor(message: string, { code, status = null, isRetryable, retryAfterMs = null, cause }: Failure) {
    super(message, { cause })
    this.code = code
    this.status = status
    this.isRetryable = isRetryable
    this.retryAfterMs = retryAfterMs
  }
}

/** The providers of a node. */
export interface Providers {
  /** Undefined where the provider is unknown or not configured. */
  find(provider: string): ConfiguredProvider | undefined
  /** All providers. `host` is null for the built-in one. Never contains a key. */
  list(): { id: string; is_configured: boolean; host: string | null }[]
  /** Removes the keys of all providers from a text for a log or an owner. */
  conceal(text: string): string
}

export interface ConfiguredProvider {
  answer: Provider
  /** Images may be sent. */
  takesImages: boolean
  /** Tools may be offered; without tools a provider gets no passages of knowledge either. */
  takesTools: boolean
}
