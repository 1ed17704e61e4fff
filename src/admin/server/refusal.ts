import { texts } from '../texts.ts'

interface ProblemDetails {
  title?: string
  detail?: string
  errors?: Record<string, string[]>
}

/** Why a call was not done: the server's problem details, or that there was no answer at all. */
export class Refusal extends Error {
  /** 0 without a response. */
  readonly status: number
  readonly title: string
  /** What is wrong with which field. */
  readonly errors: Record<string, string[]>
  /** The id of the request in the server's log; empty without a response. */
  readonly requestId: string

  constructor(status: number, { title, detail, errors }: ProblemDetails, requestId = '') {
    super(detail ?? title ?? texts.failure.unknown)
    this.status = status
    this.title = title ?? texts.failure.title
    this.errors = errors ?? {}
    this.requestId = requestId
  }

  static async read(response: Response): Promise<Refusal> {
    // A proxy between may answer with something else.
    const details = await response.json().catch(() => ({ title: `${response.status} ${response.statusText}` }))
    return new Refusal(response.status, details as ProblemDetails, response.headers.get('x-request-id') ?? '')
  }

  static unreachable(): Refusal {
    return new Refusal(0, { title: texts.failure.unreachable, detail: texts.failure.unreachableHint })
  }
}

/** The remedy for a refusal in a sentence; null where its own text has it. */
export function remedyFor({ status, requestId }: Refusal): string | null {
  if (status === 429) return texts.failure.tooMany
  if (status >= 500)
    return requestId === '' ? texts.failure.ofServer : `${texts.failure.ofServer} ${texts.failure.inLog}`
  if (status === 404) return texts.failure.gone
  return null
}

/** What went wrong, as a refusal: also where the page itself could not read what was typed. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  return new Refusal(422, { title: texts.failure.title, detail: error instanceof Error ? error.message : `${error}` })
}
