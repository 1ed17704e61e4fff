/** A refused request, with the members of problem details (RFC 9457), or a failure before there was an answer. */
export class ParleyError extends Error {
  override readonly name = 'ParleyError'
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number
  /** A name that does not change, such as `not-found`; `network` where there was no answer. */
  readonly code: string
  /** The rejected fields, and what is wrong with each. */
  readonly errors: Record<string, string[]>
  /** What the server's log calls the request. */
  readonly requestId: string | undefined
  /** The path of the page that explains the code. */
  readonly help: string | undefined

  constructor(
    message: string,
    { status = 0, code = 'network', errors = {}, requestId, help, cause }: ParleyErrorInit = {},
  ) {
    super(message, { cause })
    this.status = status
    this.code = code
    this.errors = errors
    this.requestId = requestId
    this.help = help
  }
}

export interface ParleyErrorInit {
  status?: number
  code?: string
  errors?: Record<string, string[]>
  requestId?: string | undefined
  help?: string | undefined
  cause?: unknown
}

/** Whatever was thrown, as an error that collections can show. */
export function toParleyError(error: unknown, code = 'network'): ParleyError {
  if (error instanceof ParleyError) return error
  return new ParleyError(error instanceof Error ? error.message : String(error), { code, cause: error })
}
