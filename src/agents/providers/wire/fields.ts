import { z } from 'zod'
import { unreadable } from './failure.ts'

/** A member of what vendors send, who add and change members: one of another type counts as absent. */
export const tolerant = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined)

export const text = tolerant(z.string())
export const count = tolerant(z.number().int().nonnegative())
/** An object of any members. */
export const loose = tolerant(z.record(z.string(), z.unknown()))

/** An object of the given members; undefined for anything else. */
export const record = <Shape extends z.ZodRawShape>(shape: Shape) => tolerant(z.object(shape))
export const list = <Schema extends z.ZodType>(item: Schema) => tolerant(z.array(item))

/** The known members of a record. Throws ProviderFailed where it is no JSON object. */
export function readFields<Schema extends z.ZodType>(vendor: string, schema: Schema, json: unknown): z.infer<Schema> {
  const result = schema.safeParse(json)
  if (result.success) return result.data
  throw unreadable(vendor, 'What came is not an object')
}
