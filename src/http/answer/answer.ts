import { Encoded, Json, writeJson } from '../../api/json.ts'
import type { Answer } from '../server/exchange.ts'
import type { RepresentationChoice } from '../request/representation.ts'
import type { Reply } from '../route.ts'

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

function toJson(body: unknown, scalars: RepresentationChoice['representation']['scalars']): string | Uint8Array {
  if (body instanceof Encoded) return body.bytes
  return body instanceof Json ? body.text : writeJson(body, scalars)
}
