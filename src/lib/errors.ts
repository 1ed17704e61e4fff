/** Field name → what is wrong with it, in words for people. */
export type FieldErrors = Record<string, string[]>

/**
 * A refusal that the caller can understand and act on, answered as problem details (RFC 9457). Any other error is a
 * bug.
 */
export class Problem extends Error {
  readonly status: number
  /** Part of the API: it never changes. */
  readonly code: string
  readonly facts: Record<string, unknown>

  constructor(status: number, code: string, detail: string, facts: Record<string, unknown> = {}) {
    super(detail)
    this.status = status
    this.code = code
    this.facts = facts
  }
}

/** Declares a kind of refusal; calling it makes the Problem to throw. */
export interface ProblemType {
  (facts?: Record<string, unknown>): Problem
  readonly status: number
  readonly code: string
  readonly detail: string
}

/** `always`: extension members that every refusal of this kind has, such as the `errors` of a 422. */
export function problem(
  status: number,
  code: string,
  detail: string,
  always: Record<string, unknown> = {},
): ProblemType {
  const make = (facts?: Record<string, unknown>) => new Problem(status, code, detail, { ...always, ...facts })
  return Object.assign(make, { status, code, detail })
}

export const NotFound = problem(404, 'not-found', 'There is no such resource, or it is not visible to you.')
export const Forbidden = problem(403, 'forbidden', 'Your access does not allow this.')
export const BadRequest = problem(400, 'bad-request', 'The request cannot be understood.')
export const ValidationFailed = problem(422, 'validation-failed', 'One or more values were rejected.')
export const Overloaded = problem(503, 'overloaded', 'The server is busy. Try again in a moment.')

/** What was looked up; 404 where there is none. */
export function requireFound<Found>(found: Found | null | undefined): Found {
  if (found === null || found === undefined) throw NotFound()
  return found
}

/** For what may have gone meanwhile: throws every error but a 404. */
export function ignoreNotFound(error: unknown): void {
  if (!(error instanceof Problem) || error.status !== 404) throw error
}

/** The most fields that a sentence names, and the longest text of one. */
const mostTold = 3
const longestTold = 300

/** A 422 that names the fields, with a sentence of the first of them. */
export function invalid(errors: FieldErrors): Problem {
  const { status, code } = ValidationFailed
  return new Problem(status, code, tell(errors), { errors })
}

/** `text is required; tags.0 must not be empty.` */
export function tell(errors: FieldErrors): string {
  const fields = Object.entries(errors)
  const told = fields.slice(0, mostTold).map(([name, texts]) => `${nounOf(name)} ${cut(texts[0] ?? 'is not valid')}`)
  const others = fields.length - told.length
  if (others > 0) told.push(`and ${others} more`)
  const sentence = told.join('; ')
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`
}

/** What is wrong with a request as a whole stands under these names. */
function nounOf(name: string): string {
  if (name === 'body') return 'The body'
  return name === 'query' ? 'The query' : cut(name)
}

function cut(text: string): string {
  return text.length <= longestTold ? text : `${text.slice(0, longestTold)}…`
}

/** A 503 with Retry-After: nothing of the request was done, unless PostgreSQL was lost while committing. */
export function overloaded(retryAfterSeconds = 1): Problem {
  return Overloaded({ retry_after: retryAfterSeconds })
}

/** The reason why a node cannot start or a command cannot run, with the remedy, for the operator. */
export class StartFault extends Error {}
