import type { Tool } from '../tools/tool.ts'

/**
 * A vendor of language models, or whatever speaks its protocol. Stateless: a request holds all that the model is to
 * know, so that a run can be continued by another node.
 */
export interface Provider {
  /**
   * Asks the model and gives what it answers as it comes; ends after one `end`. Throws ProviderFailed where the vendor
   * refuses, breaks off, says nothing for 60 s, or sends what cannot be read; the consumer may ask once
   * more where `isRetryable`. Aborting the signal closes the connection.
   */
  answer(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
}

export interface ModelRequest {
  model: string
  /** The agent's name: what works without a model introduces itself by it. */
  agent: string
  system: string
  /** The first is the user's; the last is the user's, or holds the results of the step before it. */
  turns: Turn[]
  /**
   * The text of the trigger alone, with mentions as `@Name` and without its author's name before it, as it stands near
   * the end of the user's last turn: for providers that take a question instead of a conversation.
   */
  question: string
  /** Where the provider keeps conversations itself: what its last `end` in this conversation called it. */
  thread: string | null
  tools: readonly Tool[]
  /** False: the model is to answer with what it has. It is asked without tools. */
  mayCall?: false
  webSearch: boolean
  /** Longest answer in tokens; null: the provider's default. */
  maxTokens: number | null
  /** Who asks, and where: opaque and always the same for the same. base64url HMAC-SHA-256, 32 characters. */
  person: string
  conversation: string
  /** How often this request was made before and failed, within this claim of the run. */
  attempt: number
}

export type UserPart = { text: string } | { image: Buffer; type: string }

export type Turn =
  | { role: 'user'; parts: UserPart[] }
  /** What the agent answered earlier. */
  | { role: 'agent'; text: string }
  /** An earlier answer to this very request, verbatim: the `body` of its `end`. Of another provider, its text counts. */
  | { role: 'step'; provider: string; body: unknown; text: string; calls: Call[] }
  /** What the calls of the step before came to, in its order. */
  | { role: 'results'; results: CallResult[] }

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
  | { type: 'usage'; in: number; out: number; cached: number }
  | {
      type: 'end'
      /** `pause`: the vendor wants to be asked again with this step appended. */
      reason: 'stop' | 'calls' | 'length' | 'filtered' | 'pause'
      calls: Call[]
      /** JSON that the vendor must get back in the next request; nobody else looks into it. */
      body: unknown
      /** What the vendor calls the request, for its support. */
      requestId?: string
      /** To be kept for the next request of this conversation. */
      thread?: string
    }

/** A tool that the model wants to be called. */
export interface Call {
  id: string
  name: string
  /** JSON text, perhaps invalid. */
  arguments: string
}

/** What of a failure people may know: see the table of error replies. */
export type FailureCode = 'provider_not_configured' | 'provider_error' | 'timeout' | 'content_filtered' | 'too_long'

interface Failure {
  code: FailureCode
  /** HTTP status of the vendor's answer; null where there was none. */
  status: number | null
  isRetryable: boolean
  /** What the vendor asks to wait; null: nothing. */
  retryAfterMs?: number | null
  cause?: unknown
}

/** A vendor did not answer. The message is for logs alone: at most 300 characters, and no keys in it. */
export class ProviderFailed extends Error {
  readonly code: FailureCode
  readonly status: number | null
  readonly isRetryable: boolean
  readonly retryAfterMs: number | null

  constructor(message: string, { code, status, isRetryable, retryAfterMs = null, cause }: Failure) {
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
  /** Every provider there is. `host` is where it is reached, null for what works here. Never a key. */
  list(): { id: string; is_configured: boolean; host: string | null }[]
  /** Replaces the keys of all providers in a text that goes to a log or to an owner. */
  conceal(text: string): string
}

export interface ConfiguredProvider {
  provider: Provider
  /** Images may be sent. */
  takesImages: boolean
  /** Tools may be offered; a provider that takes none gets no passages of knowledge either. */
  takesTools: boolean
}
