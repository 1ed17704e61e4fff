import { z } from 'zod'
import { idForm } from '../../../api/shape.ts'

/** The signature of a link, and its options. 404 without a valid signature. */
export const LinkQuery = z.object({
  e: z.string().optional(),
  s: z.string().optional(),
  d: z.string().optional(),
})

/** An id in the path of a link. */
export const Id = z.string().regex(idForm).transform(Number)
