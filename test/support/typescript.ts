import { format } from 'prettier'

/** A JSON Schema, as far as zod and the OpenAPI description use it. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  description?: string
}

/** What is sent may be a number or its digits; what is answered is a number, because the client asks for that. */
export type Direction = 'in' | 'out'

/** Code in the style of the project. */
export function formatCode(code: string): Promise<string> {
  return format(code, { parser: 'typescript', semi: false, singleQuote: true, printWidth: 120 })
}

/** The declaration of a type of what is answered. */
export function toDeclaration(name: string, schema: Schema): string {
  const type = toType(schema, 'out')
  return type.startsWith('{') ? `export interface ${name} ${type}` : `export type ${name} = ${type}`
}

export function toType(schema: Schema, direction: Direction): string {
  const { $ref, anyOf, allOf, items, properties, type } = schema
  if ($ref !== undefined) return nameOf($ref)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(value => JSON.stringify(value)).join(' | ')
  if (anyOf !== undefined) {
    // Alternatives as zod writes them, before the description has merged them into one schema with two types.
    if (direction === 'out' && anyOf.some(one => one.type === 'integer')) return 'number'
    return [...new Set(anyOf.map(one => toType(one, direction)))].join(' | ')
  }
  if (allOf !== undefined) return allOf.map(one => toType(one, direction)).join(' & ')
  if (items !== undefined) return `(${toType(items, direction)})[]`
  if (properties !== undefined) return `{ ${Object.entries(properties).map(toMember(schema, direction)).join('\n')} }`
  const types = typeof type === 'string' ? [type] : (type ?? [])
  if (types.includes('integer')) return direction === 'out' ? 'number' : 'number | string'
  return types.map(toPlainType).join(' | ') || 'unknown'
}

/** The last part of a reference: `#/components/schemas/User` → `User`. */
export function nameOf(reference: string): string {
  return reference.split('/').at(-1)!
}

/** What is said of a shape wherever it is used says nothing of a member. */
export function toComment(description: string | undefined): string {
  const isEverywhere = /^(An integer, as a string by default|Free-form properties)/.test(description ?? '')
  return description === undefined || isEverywhere ? '' : `/** ${description.replaceAll('*/', '*')} */\n`
}

function toPlainType(type: string): string {
  return type === 'object' ? 'Record<string, unknown>' : type === 'array' ? 'unknown[]' : type
}

const toMember =
  ({ required = [] }: Schema, direction: Direction) =>
  ([name, schema]: [string, Schema]): string =>
    `${toComment(schema.description)}${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${toType(schema, direction)}`
