import { z } from 'zod'

/** What signs a link, and what of it may be chosen. */
export const LinkQuery = z.object({
  e: z.string().max(15).optional(),
  s: z.string().max(64).optional(),
  d: z.string().optional(),
})

/** Digits of a link's path. */
export const Id = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number)
