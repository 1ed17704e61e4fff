import { format } from 'prettier'
import type { z } from 'zod'

/** A JSON Schema, as far as zod writes one. */
interface Schema {
  $ref?: string
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  description?: string
}

/** A type for each of some schemas, in the style of the code; numbers are those of realtime frames: JSON numbers. */
export async function toTypes(schemas: Record<string, z.core.JSONSchema.BaseSchema>): Promise<string> {
  const declarations = Object.entries(schemas).map(
    ([name, schema]) => `export interface ${name} ${toType(schema as Schema)}`,
  )
  return format(declarations.join('\n\n'), { parser: 'typescript', semi: false, singleQuote: true, printWidth: 120 })
}

function toType(schema: Schema): string {
  const { $ref, anyOf, items, properties, type } = schema
  if ($ref !== undefined) return $ref.split('/').at(-1)!
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(value => JSON.stringify(value)).join(' | ')
  if (anyOf !== undefined) return anyOf.some(isInteger) ? 'number' : anyOf.map(toType).join(' | ')
  if (items !== undefined) return `(${toType(items)})[]`
  if (properties !== undefined) return `{ ${Object.entries(properties).map(member(schema)).join('\n')} }`
  if (type === 'object') return 'Record<string, unknown>'
  return type === 'integer' ? 'number' : (type ?? 'unknown')
}

/** The API writes integers as strings by default, so its schemas say that they are either. */
function isInteger({ type }: Schema): boolean {
  return type === 'integer'
}

const member =
  ({ required = [] }: Schema) =>
  ([name, schema]: [string, Schema]): string => {
    const isSaid = schema.description !== undefined && !isEverywhere(schema.description)
    const comment = isSaid ? `/** ${schema.description} */\n` : ''
    return `${comment}${name}${required.includes(name) ? '' : '?'}: ${toType(schema)}`
  }

/** What is said of a shape wherever it is used says nothing of a member. */
function isEverywhere(description: string): boolean {
  return ['An integer, as a string by default', 'Free-form properties'].includes(description)
}
