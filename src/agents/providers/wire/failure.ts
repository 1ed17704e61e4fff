import { EgressFailed } from '../../../egress/egress-failed.ts'
import { ProviderFailed } from '../provider.ts'

/** The most characters of a vendor's error in logs: enough to see the cause, with little of what users wrote. */
const shownCharacters = 300

/** The longest pause before a second attempt: an answer is due within two minutes. */
const waitLimitMs = 20_000

const retryableStatuses = new Set([408, 409, 425, 429])

/** Vendors have no status for a question that is too long; only the message says it. */
const tooLong =
  /context_length_exceeded|prompt is too long|maximum context length|exceeds the maximum number of tokens/i

/** A refusal: its status, its headers, and the beginning of its body without keys. */
export interface Refusal {
  status: number
  headers: Record<string, string>
  text: string
  /** What the vendor calls the request, for its support. */
  requestId?: string | undefined
}

/** The meaning of a vendor's refusal, from the error codes and pauses in the vendor's own format. */
export function toFailure(vendor: string, { status, headers, text, requestId = '' }: Refusal): ProviderFailed {
  const error = readError(text)
  const retryAfterMs = waitOf(headers) ?? error.retryAfterMs
  const isRetryable =
    (retryableStatuses.has(status) || status >= 500) &&
    !error.codes.includes('insufficient_quota') &&
    (retryAfterMs ?? 0) <= waitLimitMs
  const message = `${vendor} answered ${status} ${requestId}: ${text}`.slice(0, shownCharacters)
  if (status === 401 || status === 403) {
    return new ProviderFailed(message, { code: 'provider_not_configured', status, isRetryable: false })
  }
  if (status === 413 || (status >= 400 && status < 500 && tooLong.test(text))) {
    return new ProviderFailed(message, { code: 'too_long', status, isRetryable: false })
  }
  return new ProviderFailed(message, { code: 'provider_error', status, isRetryable, retryAfterMs })
}

/** The meaning of an incomplete answer. */
export function toBrokenFailure(vendor: string, cause: EgressFailed): ProviderFailed {
  const isRetryable = ['name', 'connection', 'idle'].includes(cause.fault)
  const code = cause.fault === 'deadline' ? 'timeout' : 'provider_error'
  return new ProviderFailed(`${vendor}: ${cause.message}`.slice(0, shownCharacters), {
    code,
    status: cause.partial?.status ?? null,
    isRetryable,
    cause,
  })
}

/** An answer that is not in the vendor's protocol, or breaks off; another attempt may succeed. */
export function unreadable(vendor: string, why: string): ProviderFailed {
  return new ProviderFailed(`${vendor}: ${why}`, { code: 'provider_error', isRetryable: true })
}

/** An error in the middle of an answer. */
export function failedMidway(vendor: string, code: string, isRetryable: boolean): ProviderFailed {
  const message = `${vendor} broke off: ${code}`.slice(0, shownCharacters)
  return new ProviderFailed(message, { code: tooLong.test(code) ? 'too_long' : 'provider_error', isRetryable })
}

function readError(text: string): { codes: string[]; retryAfterMs: number | null } {
  const nothing = { codes: [], retryAfterMs: null }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    // A proxy's page, or a truncated error: the status has to do.
    return nothing
  }
  // Gemini sends an array where a whole answer was asked for.
  const error = member(Array.isArray(body) ? body[0] : body, 'error')
  const codes = ['code', 'type', 'status'].map(name => member(error, name)).filter(value => typeof value === 'string')
  return { codes, retryAfterMs: retryDelayOf(member(error, 'details')) }
}

/** Gemini's `"retryDelay": "12s"`, in one of the details. */
function retryDelayOf(details: unknown): number | null {
  if (!Array.isArray(details)) return null
  const delay = details.map(detail => member(detail, 'retryDelay')).find(value => typeof value === 'string')
  const seconds = Number(/^(\d+(?:\.\d+)?)s$/.exec(delay ?? '')?.[1] ?? Number.NaN)
  return Number.isNaN(seconds) ? null : Math.ceil(seconds * 1000)
}

/** The seconds of `Retry-After` (RFC 9110, section 10.2.3): a number, or a date, relative to the answer's own. */
function waitOf({ 'retry-after': wait, date }: Record<string, string>): number | null {
  if (wait === undefined) return null
  if (/^\d{1,9}$/.test(wait.trim())) return Number(wait) * 1000
  const waitMs = Date.parse(wait) - Date.parse(date ?? '')
  return Number.isNaN(waitMs) ? null : Math.max(0, waitMs)
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}
