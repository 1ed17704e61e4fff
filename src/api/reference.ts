import { z } from 'zod'
import { NotFound } from '../lib/errors.ts'
import { idForm } from './shape.ts'

/** How a path or a body names something: by id, or by its uid or name. The other one is null. */
export type Reference = { id: number; name: null } | { id: null; name: string }

/** What nobody has. Ids of more digits would not even fit. */
const nothing: Reference = { id: null, name: '' }

/**
 * Digits are an id, anything else is a uid or name. `-1` is the deleted user, the one id that is not made of digits.
 */
export function toReference(text: string): Reference {
  if (/^(\d{1,15}|-1)$/.test(text)) return { id: Number(text), name: null }
  return /^\d+$/.test(text) ? nothing : { id: null, name: text }
}

/** The id, or rev, in a path or query. What can be none names nothing: 404. */
export function toId(text: string): number {
  if (!idForm.test(text)) throw NotFound()
  return Number(text)
}

/** An id, as a number or in digits, or a uid or name in the body of a request. */
export const ReferenceInput = z
  .union([z.int().nonnegative(), z.string().trim().min(1).max(256)])
  .transform(String)
  .meta({ type: ['string', 'integer'] })
