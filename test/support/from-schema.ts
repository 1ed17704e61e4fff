import fc, { type Arbitrary } from 'fast-check'

// JSON Schema as zod writes it; only what it holds is read here.
export interface JsonSchema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  minimum?: number
  maximum?: number
  maxLength?: number
}

/** Values that a schema describes, most of the time, and things that it does not, now and then. */
export function fromSchema(schema: JsonSchema, resolve: (ref: string) => JsonSchema): Arbitrary<unknown> {
  return fc.oneof(
    { weight: 9, arbitrary: fitting(schema, resolve) },
    {
      weight: 1,
      arbitrary: fc.oneof(fc.constant(null), fc.integer(), fc.string(), fc.boolean(), fc.constant([]), fc.constant({})),
    },
  )
}

function fitting(schema: JsonSchema, resolve: (ref: string) => JsonSchema): Arbitrary<unknown> {
  if (schema.$ref !== undefined) return fromSchema(resolve(schema.$ref), resolve)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const branches = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (branches !== undefined) return fc.oneof(...branches.map(branch => fromSchema(branch, resolve)))
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'any']
  return fc.oneof(...types.map(type => ofType(type, schema, resolve)))
}

function ofType(type: string, schema: JsonSchema, resolve: (ref: string) => JsonSchema): Arbitrary<unknown> {
  switch (type) {
    case 'string':
      return fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 40 }),
        fc.constantFrom('1', '0', 'id desc', 'https://example.test/'),
      )
    case 'integer':
      return fc.oneof(fc.integer({ min: 0, max: 50 }), fc.maxSafeInteger())
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(fromSchema(schema.items ?? {}, resolve), { maxLength: 4 })
    case 'object':
      return ofObject(schema, resolve)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function ofObject({ properties = {}, required = [] }: JsonSchema, resolve: (ref: string) => JsonSchema) {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [name, fromSchema(member, resolve)]),
  )
  // Now and then something that is required is missing.
  return fc.oneof(
    { weight: 9, arbitrary: fc.record(members, { requiredKeys: required }) },
    { weight: 1, arbitrary: fc.record(members, { requiredKeys: [] }) },
  )
}
