import { ParleyError, toParleyError } from './error.ts'
import { newKey } from './key.ts'
import type { Token } from './token.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Values of a query; undefined ones are left out, and arrays repeat the parameter. */
export type Query = Record<string, string | number | boolean | readonly (string | number)[] | null | undefined>

export interface RequestOptions {
  query?: Query | undefined
  /** Sent as JSON; a FormData as it is. */
  body?: unknown
  signal?: AbortSignal | undefined
  /** The Idempotency-Key; without one, a POST gets one of its own. */
  key?: string | undefined
  /** How often it is tried where the network or an overloaded server is in the way. Default: 5. */
  attempts?: number | undefined
  /** Called before each further attempt, with what was in the way. */
  onRetry?: ((error: ParleyError) => void) | undefined
  /** Instead of the client's. */
  fetch?: typeof fetch | undefined
}

export interface Answer<Body> {
  body: Body
  /** The place in the app's history of which this is, where the answer is about one app. */
  rev: number | undefined
  epoch: string | undefined
}

/** Answers after which the same request may succeed. */
const passing = new Set([408, 425, 429, 502, 503, 504])

/** How long an attempt may take, but for uploads: a network that has died unnoticed would say nothing for minutes. */
const attemptMs = 30_000

const firstPauseMs = 300
const longestPauseMs = 30_000

/**
 * Requests to the API. All of them may be repeated: what would otherwise be done twice carries an `Idempotency-Key`.
 */
export class Http {
  readonly #url: string
  readonly #token: Token
  readonly #fetch: typeof fetch
  readonly #pauses = new Set<() => void>()
  /** The attempts that wait for an answer. */
  readonly #attempts = new Set<AbortController>()
  #isClosed = false

  constructor(url: string, token: Token, fetchFunction: typeof fetch = (...args) => fetch(...args)) {
    if (!/^https?:\/\/./.test(url)) throw new ParleyError(`'${url}' is no URL of a server.`, { code: 'url' })
    this.#url = url.replace(/\/+$/, '')
    this.#token = token
    this.#fetch = fetchFunction
  }

  /** The body of the answer. */
  async request<Body>(method: Method, path: string, options: RequestOptions = {}): Promise<Body> {
    return (await this.send<Body>(method, path, options)).body
  }

  async send<Body>(method: Method, path: string, options: RequestOptions = {}): Promise<Answer<Body>> {
    const { signal, attempts = 5, key = method === 'POST' ? newKey() : undefined } = options
    if (this.#isClosed) throw closed()
    let refused: string | undefined
    for (let attempt = 1; ; attempt++) {
      let token = ''
      let outcome: Answer<Body> | Refusal
      try {
        token = await this.#token.get(refused)
        outcome = await this.#try<Body>(method, path, token, { ...options, key })
      } catch (error) {
        if (signal?.aborted) throw error
        outcome = new Refusal(toParleyError(error))
        outcome.mayPass &&= outcome.error.status === 0
      }
      if (!(outcome instanceof Refusal)) return outcome
      if (outcome.error.status === 401 && token !== '') {
        const isFirst = refused === undefined
        refused = token
        if (isFirst && attempt-- > 0) continue
        // There may be a better one soon.
        outcome.mayPass = true
      }
      if (!outcome.mayPass || attempt >= attempts || this.#isClosed) throw outcome.error
      const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** attempt) * (0.5 + Math.random() / 2)
      options.onRetry?.(outcome.error)
      await this.#pause(Math.max(outcome.leastMs, pauseMs), signal)
      if (this.#isClosed) throw outcome.error
    }
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Nothing is tried again any more. */
  close(): void {
    this.#isClosed = true
    for (const attempt of this.#attempts) attempt.abort(closed())
    this.wake()
  }

  /** Tries again at once what waits: the network is back. */
  wake(): void {
    for (const end of this.#pauses) end()
  }

  /** Resolves after this time, or when it is woken; rejects as soon as the signal is aborted. */
  #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        this.#pauses.delete(end)
        signal?.removeEventListener('abort', end)
        if (signal?.aborted) reject(toAbort(signal))
        else resolve()
      }
      const timer = setTimeout(end, ms)
      this.#pauses.add(end)
      signal?.addEventListener('abort', end)
      if (signal?.aborted) end()
    })
  }

  async #try<Body>(
    method: Method,
    path: string,
    token: string,
    { query, body, signal, key, fetch = this.#fetch }: RequestOptions,
  ): Promise<Answer<Body> | Refusal> {
    const isForm = typeof FormData !== 'undefined' && body instanceof FormData
    const headers: Record<string, string> = { authorization: `Bearer ${token}`, prefer: 'scalars=number' }
    if (body !== undefined && !isForm) headers['content-type'] = 'application/json'
    if (key !== undefined) headers['idempotency-key'] = key
    const init: RequestInit = { method, headers }
    if (body !== undefined) init.body = isForm ? (body as FormData) : JSON.stringify(body)
    const attempt = new AbortController()
    const abort = () => attempt.abort(toAbort(signal!))
    const late = () => attempt.abort(new ParleyError(`No answer within ${attemptMs / 1_000} seconds.`))
    const timer = isForm ? undefined : setTimeout(late, attemptMs)
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    this.#attempts.add(attempt)
    init.signal = attempt.signal
    try {
      const response = await fetch(`${this.#url}${path}${toQuery(query)}`, init)
      const text = await response.text()
      return response.ok && isJson(response, text)
        ? toAnswer(response, text)
        : new Refusal(toError(response, text), response)
    } catch (error) {
      if (signal?.aborted) throw toAbort(signal)
      return new Refusal(toParleyError(attempt.signal.reason ?? error))
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      this.#attempts.delete(attempt)
    }
  }
}

/** A request that has failed, for now or for good. */
class Refusal {
  readonly error: ParleyError
  mayPass: boolean
  readonly leastMs: number

  constructor(error: ParleyError, response?: Response) {
    this.error = error
    this.mayPass = response === undefined || passing.has(response.status)
    this.leastMs = (Number(response?.headers.get('retry-after')) || 0) * 1_000
  }
}

export const closed = () => new ParleyError('The client is closed.', { code: 'closed' })

/** A page in its place is of another server. */
function isJson({ headers }: Response, text: string): boolean {
  return text === '' || /[/+]json\b/.test(headers.get('content-type') ?? '')
}

function toAnswer<Body>(response: Response, text: string): Answer<Body> {
  const rev = response.headers.get('x-service-rev')
  return {
    body: (text === '' ? undefined : JSON.parse(text)) as Body,
    rev: rev === null ? undefined : Number(rev),
    epoch: response.headers.get('x-service-epoch') ?? undefined,
  }
}

function toError({ status, headers }: Response, text: string): ParleyError {
  let problem: {
    detail?: string
    title?: string
    code?: string
    errors?: Record<string, string[]>
    request_id?: string
    help?: string
  } = {}
  try {
    problem = JSON.parse(text) as typeof problem
  } catch {
    // Something between here and the server has answered.
  }
  const isPage = status < 400
  const told = `The server answered ${status}${isPage ? ', and not in JSON: is the URL right?' : '.'}`
  return new ParleyError(problem.detail ?? problem.title ?? told, {
    status,
    code: problem.code ?? (isPage ? 'not-json' : `status-${status}`),
    errors: problem.errors ?? {},
    help: problem.help,
    requestId: problem.request_id ?? headers.get('x-request-id') ?? undefined,
  })
}

export function toQuery(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((one: unknown) =>
      one === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(String(one))}`],
    ),
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

function toAbort({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('The request was aborted.')
}
