import { z } from 'zod'
import { unreadable } from './failure.ts'

// Members of what vendors send. One that is absent or of another type counts as absent: vendors add and change them.

export const text = z.string().optional().catch(undefined)
export const count = z.number().int().nonnegative().optional().catch(undefined)

/** An object of the given members; undefined for anything else. */
export const record = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape).optional().catch(undefined)

/** The known members of a record. Throws ProviderFailed where it is no JSON object. */
export function readFields<Schema extends z.ZodType>(vendor: string, schema: Schema, json: unknown): z.infer<Schema> {
  const result = schema.safeParse(json)
  if (result.success) return result.data
  throw unreadable(vendor, 'What came is not an object')
}
