import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { overloaded, Problem } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { isUnavailable } from '../../postgres/unavailable.ts'
import type { Answer } from '../server/exchange.ts'

/** The `type` of problems by status: where the status is defined. */
const types: Record<number, string> = {
  400: 'https://tools.ietf.org/html/rfc7231#section-6.5.1',
  401: 'https://tools.ietf.org/html/rfc7235#section-3.1',
  403: 'https://tools.ietf.org/html/rfc7231#section-6.5.3',
  404: 'https://tools.ietf.org/html/rfc7231#section-6.5.4',
  405: 'https://tools.ietf.org/html/rfc7231#section-6.5.5',
  406: 'https://tools.ietf.org/html/rfc7231#section-6.5.6',
  408: 'https://tools.ietf.org/html/rfc7231#section-6.5.7',
  409: 'https://tools.ietf.org/html/rfc7231#section-6.5.8',
  410: 'https://tools.ietf.org/html/rfc7231#section-6.5.9',
  412: 'https://tools.ietf.org/html/rfc7232#section-4.2',
  413: 'https://tools.ietf.org/html/rfc7231#section-6.5.11',
  414: 'https://tools.ietf.org/html/rfc7231#section-6.5.12',
  415: 'https://tools.ietf.org/html/rfc7231#section-6.5.13',
  416: 'https://tools.ietf.org/html/rfc7233#section-4.4',
  422: 'https://tools.ietf.org/html/rfc4918#section-11.2',
  429: 'https://tools.ietf.org/html/rfc6585#section-4',
  431: 'https://tools.ietf.org/html/rfc6585#section-5',
  500: 'https://tools.ietf.org/html/rfc7231#section-6.6.1',
  501: 'https://tools.ietf.org/html/rfc7231#section-6.6.2',
  502: 'https://tools.ietf.org/html/rfc7231#section-6.6.3',
  503: 'https://tools.ietf.org/html/rfc7231#section-6.6.4',
  504: 'https://tools.ietf.org/html/rfc7231#section-6.6.5',
  507: 'https://tools.ietf.org/html/rfc4918#section-11.5',
}

const titles: Record<number, string> = { ...STATUS_CODES, 422: 'Validation Failed' }

/** The facts about a failed request that are logged. */
interface LoggedRequest {
  request_id: string
  method: string
  path: string
  /** The User-Agent header. */
  source: string
}

/**
 * Turns any error into an answer (RFC 9457). A Problem is written as it is, and its cause, if any, logged; a database,
 * store or process that is unavailable is a 503; any other error is a bug, of which the caller gets only the id of its
 * log entry.
 */
export function toProblemAnswer(error: unknown, request: LoggedRequest, log: Log): Answer {
  if (error instanceof Problem) {
    if (error.status === 500) return describeFault(error, request, log)
    if (error.cause !== undefined) log.warn({ ...request, error }, 'A request was refused because something failed')
    return describe(error, request)
  }
  if (isUnavailable(error)) {
    log.warn({ ...request, error }, 'A request failed because what it needs could not be reached')
    return describe(overloaded(2), request)
  }
  const fault = new Problem(500, 'internal-error', 'Something went wrong. It has been logged.')
  fault.cause = error
  return describeFault(fault, request, log)
}

/** Logs the cause under an id that the caller gets. */
function describeFault({ status, code, message, facts, cause }: Problem, request: LoggedRequest, log: Log): Answer {
  const trace_id = randomUUID()
  log.error({ trace_id, ...request, error: cause }, 'A request failed')
  return describe(new Problem(status, code, message, { ...facts, trace_id }), request)
}

function describe({ status, code, message, facts }: Problem, { path, request_id }: LoggedRequest): Answer {
  const { retry_after, allow, range, upgrade, challenge, ...others } = facts
  const members = {
    ...others,
    type: types[status] ?? 'about:blank',
    title: titles[status] ?? 'Error',
    status,
    detail: message,
    instance: path,
    code,
    help: `/docs/errors#${code}`,
    request_id,
  }
  const headers: Record<string, string> = {}
  if (status === 401) headers['WWW-Authenticate'] = typeof challenge === 'string' ? challenge : 'Bearer realm="api"'
  if (typeof retry_after === 'number') headers['Retry-After'] = String(Math.max(1, Math.ceil(retry_after)))
  if (typeof allow === 'string') headers['Allow'] = allow
  if (typeof range === 'string') headers['Content-Range'] = range
  if (typeof upgrade === 'string') headers['Upgrade'] = upgrade
  // Not the JSON writer of responses: field names come from requests, and have to be escaped.
  return { status, type: 'application/problem+json', headers, body: JSON.stringify(members) }
}
