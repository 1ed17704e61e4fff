import { z } from 'zod'

/** The name of a function or tool server: unique among the agent's tools, and used in paths. */
export const ToolName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, underscores or hyphens')

const isHeaderName = (name: string) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/.test(name)
const isHeaderValue = (value: string) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)

const mostHeaders = 64

/** Headers for authentication and the like, limited to valid names and values. Their number is checked first. */
export const HeadersInput = z.preprocess(
  (value, context) => {
    if (typeof value !== 'object' || value === null || Object.keys(value).length <= mostHeaders) return value
    context.addIssue(`must be at most ${mostHeaders}`)
    return z.NEVER
  },
  z
    .record(z.string(), z.string().max(8192))
    .refine(headers => Object.keys(headers).every(isHeaderName), 'must have names that HTTP allows')
    .refine(headers => Object.values(headers).every(isHeaderValue), 'must have values that HTTP allows'),
)

export const Headers = z.record(z.string(), z.string()).describe('As they were given')
