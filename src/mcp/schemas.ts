import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** Members that say nothing to a model, and would make the list of tools half as long again. */
const dropped = new Set([
  ...['$schema', 'additionalProperties', 'minimum', 'maximum', 'minLength', 'maxLength', 'maxItems', 'minItems'],
])

/** The schema, which checks as before, with a JSON schema that is made once and has only what a model needs. */
export function compact<Schema extends z.ZodObject>(schema: Schema): Schema & StandardSchemaWithJSON {
  const input = slim(z.toJSONSchema(schema, { io: 'input' }), dropped)
  // What a result has is seen in the result.
  const output = slim(z.toJSONSchema(schema, { io: 'output' }), new Set([...dropped, 'required']))
  const standard = { ...schema['~standard'], jsonSchema: { input: () => input, output: () => output } }
  return { '~standard': standard } as unknown as Schema & StandardSchemaWithJSON
}

function slim(schema: object, without: ReadonlySet<string>): Record<string, unknown> {
  const kept = Object.entries(schema).filter(([name]) => !without.has(name))
  const slimmed = Object.fromEntries(kept.map(([name, value]) => [name, slimValue(name, value, without)]))
  const { anyOf, ...rest } = slimmed as { anyOf?: { type?: unknown }[] }
  // An id or a uid.
  return anyOf === undefined ? slimmed : { type: anyOf.map(({ type }) => type), ...rest }
}

function slimValue(name: string, value: unknown, without: ReadonlySet<string>): unknown {
  if (name === 'properties') {
    const members = Object.entries(value as Record<string, object>)
    return Object.fromEntries(members.map(([member, schema]) => [member, slim(schema, without)]))
  }
  if (name === 'items') return slim(value as object, without)
  return name === 'anyOf' ? (value as object[]).map(one => slim(one, without)) : value
}
