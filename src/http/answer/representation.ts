import { Encoded, Json, writeJson, type Scalars } from '../../api/json.ts'
import type { Answer } from '../server/exchange.ts'
import type { Reply, Representation } from '../route.ts'

export interface RepresentationChoice {
  representation: Representation
  /** True where the Prefer header chose it, which the answer then confirms (RFC 7240, section 3). */
  isPreferred: boolean
}

const asNumbers = /(?:^|[,;\s])scalars\s*=\s*"?number"?\s*(?:$|[,;])/i
const whole = /(?:^|&)out=(details|summary)(?:&|$)/

const plain: RepresentationChoice = {
  representation: { scalars: 'string', items: 'summary', inner: 'first', isStream: false },
  isPreferred: false,
}

/**
 * The representation that a request asks for: `prefer` is its Prefer header (RFC 7240); `source` the header of the UI
 * kit, which always gets numbers and whole items; `out` of the query overrides the items. Absent ones are empty.
 * `isStream` is true where it asks for the media type that its route streams.
 */
export function chooseRepresentation(
  prefer: string,
  source: string,
  query: string,
  isStream: boolean,
): RepresentationChoice {
  if (prefer === '' && source === '' && query === '' && !isStream) return plain
  const isPreferred = prefer !== '' && asNumbers.test(prefer)
  const out = whole.exec(query)?.[1] as Representation['items'] | undefined
  const representation: Representation = {
    scalars: isPreferred || source !== '' ? 'number' : 'string',
    items: out ?? (source === '' ? 'summary' : 'details'),
    inner: source === '' ? 'first' : 'all',
    isStream,
  }
  return { representation, isPreferred }
}

const appliedNumbers = { 'Preference-Applied': 'scalars=number' }

/** A handler's reply in the representation that the caller chose. */
export function toAnswer(
  { status, body, headers }: Reply,
  { representation, isPreferred }: RepresentationChoice,
): Answer {
  const all = isPreferred ? { ...headers, ...appliedNumbers } : headers
  if (body === undefined || body === null) return { status, headers: all }
  const isText = typeof body === 'string'
  const answer: Answer = { status, headers: all, body: isText ? body : toJson(body, representation.scalars) }
  // A Content-Type given by the route overrides that of the body.
  if (headers?.['Content-Type'] === undefined)
    answer.type = isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8'
  return answer
}

function toJson(body: unknown, scalars: Scalars): string | Uint8Array {
  if (body instanceof Encoded) return body.bytes
  return body instanceof Json ? body.text : writeJson(body, scalars)
}
