import { z } from 'zod'
import { NotFound, Problem } from '../lib/errors.ts'
import { toName } from '../lib/name.ts'
import { idForm } from './shape.ts'

/** A reference in a path or body: an id, or a uid or name; the other member is null. */
export type Reference = { id: number; name: null } | { id: null; name: string }

/** A reference that nothing has. Ids of more digits would not fit a number. */
const noReference: Reference = { id: null, name: '' }

/** Digits are an id, any other text is a uid or name. `-1` is the deleted user, the one id with a sign. */
export function toReference(text: string): Reference {
  if (/^(\d{1,15}|-1)$/.test(text)) return { id: Number(text), name: null }
  return /^\d+$/.test(text) ? noReference : { id: null, name: text }
}

/** An id or rev in a path or query. Any other text names nothing: 404. */
export function toId(text: string): number {
  if (!idForm.test(text)) throw noId(text)
  return Number(text)
}

function noId(text: string): Problem {
  const shown = text.length > 64 ? `${text.slice(0, 64)}…` : text
  return new Problem(NotFound.status, NotFound.code, `"${shown}" is not an id: ids are whole numbers.`)
}

/** A reference in the body of a request: an id as a number or in digits, or a uid or name. */
export const ReferenceInput = z
  .union([z.int().nonnegative(), z.string().overwrite(toName).min(1).max(256)])
  .transform(String)
  .meta({ type: ['string', 'integer'] })
