import { Encoded, Json, writeAnswer, type Scalars } from '../../api/json.ts'
import type { Handling } from '../request/names/unknown.ts'
import type { Answer } from '../server/exchange.ts'
import type { Reply, Representation } from '../route.ts'

export interface RepresentationChoice {
  representation: Representation
  handling: Handling
  /** What the Prefer header chose, which the answer then confirms (RFC 7240, section 3). */
  applied: Readonly<Record<string, string>> | undefined
}

const asNumbers = /(?:^|[,;\s])scalars\s*=\s*"?number"?\s*(?:$|[,;])/i
const handlings = /(?:^|[,;\s])handling\s*=\s*"?(strict|lenient)"?\s*(?:$|[,;])/i
const whole = /(?:^|&)out=(details|summary)(?:&|$)/

const plain: RepresentationChoice = {
  representation: { scalars: 'string', items: 'summary', inner: 'first', isStream: false },
  handling: 'usual',
  applied: undefined,
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
  const preferred = prefer === '' ? undefined : handlings.exec(prefer)?.[1]!.toLowerCase()
  const out = whole.exec(query)?.[1] as Representation['items'] | undefined
  const representation: Representation = {
    scalars: isPreferred || source !== '' ? 'number' : 'string',
    items: out ?? (source === '' ? 'summary' : 'details'),
    inner: source === '' ? 'first' : 'all',
    isStream,
  }
  const handling = (preferred as Handling | undefined) ?? (source === '' ? 'usual' : 'silent')
  const applied = [
    ...(isPreferred ? ['scalars=number'] : []),
    ...(preferred === undefined ? [] : [`handling=${preferred}`]),
  ]
  return {
    representation,
    handling,
    applied: applied.length === 0 ? undefined : { 'Preference-Applied': applied.join(', ') },
  }
}

/** A handler's reply in the representation that the caller chose. */
export function toAnswer(
  { status, body, headers }: Reply,
  { representation, applied }: RepresentationChoice,
): Answer | Promise<Answer> {
  const all = applied === undefined ? headers : { ...headers, ...applied }
  if (body === undefined || body === null) return { status, headers: all }
  const isText = typeof body === 'string'
  const written = isText ? body : toJson(body, representation.scalars)
  const answer: Answer = { status, headers: all }
  // A Content-Type given by the route overrides that of the body.
  if (headers?.['Content-Type'] === undefined)
    answer.type = isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8'
  if (written instanceof Promise) return written.then(bytes => ({ ...answer, body: bytes }))
  answer.body = written
  return answer
}

function toJson(body: unknown, scalars: Scalars): string | Uint8Array | Promise<Uint8Array> {
  if (body instanceof Encoded) return body.bytes
  return body instanceof Json ? body.text : writeAnswer(body, scalars)
}
