import { z } from 'zod'
import { Int } from '../../api/shape.ts'

/** The lifetime where none is asked for. */
export const defaultSeconds = 3600

const longestSeconds = 31_536_000
const message = `must be a whole number of seconds from 1 to ${longestSeconds}`

export const NewToken = z.object({
  expires_in: z
    .union([z.int(), z.string().regex(/^\d{1,9}$/)], { error: message })
    .transform(Number)
    .refine(seconds => seconds >= 1 && seconds <= longestSeconds, { message })
    .optional()
    .describe(`Lifetime in seconds; default ${defaultSeconds}`)
    .meta({ type: ['integer', 'string'] }),
})

/** Issued once: only its hash is kept. */
export const Token = z.object({ access_token: z.string(), expires_in: Int }).meta({ id: 'Token' })
