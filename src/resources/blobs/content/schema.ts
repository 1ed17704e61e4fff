import { z } from 'zod'
import { idForm } from '../../../api/shape.ts'

/** What signs a link, and what of it may be chosen. Whatever was not signed here leads nowhere: 404. */
export const LinkQuery = z.object({
  e: z.string().optional(),
  s: z.string().optional(),
  d: z.string().optional(),
})

/** Digits of a link's path. */
export const Id = z.string().regex(idForm).transform(Number)
