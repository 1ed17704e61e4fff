import { EgressFailed } from '../../../egress/egress-failed.ts'
import { ProviderFailed } from '../provider.ts'

/** Of a vendor's error, this much is passed on to logs: enough to see what is wrong, and little of what people wrote. */
const shownCharacters = 300

/** Nobody waits longer for a second try: an answer is due within two minutes. */
const longestWaitMs = 20_000

const retryableStatuses = new Set([408, 409, 425, 429])

/** Vendors have no status for a question that is too long, so it shows in the words. */
const tooLong =
  /context_length_exceeded|prompt is too long|maximum context length|exceeds the maximum number of tokens/i

/** An answer that says no: its status, its headers, and the beginning of its body with no key in it. */
export interface Refusal {
  status: number
  headers: Record<string, string>
  text: string
  /** What the vendor calls the request, for its support. */
  requestId?: string | undefined
}

/** What a vendor's refusal means. Vendors write errors in forms of their own, of which the codes and waits are found. */
export function toFailure(vendor: string, { status, headers, text, requestId = '' }: Refusal): ProviderFailed {
  const error = readError(text)
  const retryAfterMs = waitOf(headers) ?? error.retryAfterMs
  const isRetryable =
    (retryableStatuses.has(status) || status >= 500) &&
    !error.codes.includes('insufficient_quota') &&
    (retryAfterMs ?? 0) <= longestWaitMs
  const message = `${vendor} answered ${status} ${requestId}: ${text}`.slice(0, shownCharacters)
  if (status === 401 || status === 403) {
    return new ProviderFailed(message, { code: 'provider_not_configured', status, isRetryable: false })
  }
  if (status === 413 || (status >= 400 && status < 500 && tooLong.test(text))) {
    return new ProviderFailed(message, { code: 'too_long', status, isRetryable: false })
  }
  return new ProviderFailed(message, { code: 'provider_error', status, isRetryable, retryAfterMs })
}

/** What it means that there was no complete answer. */
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

/** What came is no answer in the vendor's protocol, or breaks off: the next one may be better. */
export function unreadable(vendor: string, why: string): ProviderFailed {
  return new ProviderFailed(`${vendor}: ${why}`, { code: 'provider_error', status: null, isRetryable: true })
}

/** An error that came in the middle of an answer. */
export function failedMidway(vendor: string, code: string, isRetryable: boolean): ProviderFailed {
  const message = `${vendor} broke off: ${code}`.slice(0, shownCharacters)
  return new ProviderFailed(message, {
    code: tooLong.test(code) ? 'too_long' : 'provider_error',
    status: null,
    isRetryable,
  })
}

function readError(text: string): { codes: string[]; retryAfterMs: number | null } {
  const nothing = { codes: [], retryAfterMs: null }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    // A proxy's page, or an error that was cut: its status says enough.
    return nothing
  }
  // Gemini's form is an array where a whole answer was asked for.
  const error = member(Array.isArray(body) ? body[0] : body, 'error')
  const codes = ['code', 'type', 'status'].map(name => member(error, name)).filter(value => typeof value === 'string')
  return { codes, retryAfterMs: retryDelayOf(member(error, 'details')) }
}

/** Of Gemini: `"retryDelay": "12s"` in one of the details. */
function retryDelayOf(details: unknown): number | null {
  if (!Array.isArray(details)) return null
  const delay = details.map(detail => member(detail, 'retryDelay')).find(value => typeof value === 'string')
  const seconds = Number(/^(\d+(?:\.\d+)?)s$/.exec(delay ?? '')?.[1] ?? Number.NaN)
  return Number.isNaN(seconds) ? null : Math.ceil(seconds * 1000)
}

/** Of `Retry-After` (RFC 9110, 10.2.3): seconds, or a date, which counts from the answer's own. */
function waitOf({ 'retry-after': wait, date }: Record<string, string>): number | null {
  if (wait === undefined) return null
  if (/^\d{1,9}$/.test(wait.trim())) return Number(wait) * 1000
  const waitMs = Date.parse(wait) - Date.parse(date ?? '')
  return Number.isNaN(waitMs) ? null : Math.max(0, waitMs)
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}
