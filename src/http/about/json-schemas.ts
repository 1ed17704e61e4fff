import { z } from 'zod'

export type JsonSchema = { [key: string]: unknown }

/**
 * Converts zod schemas into JSON schemas with shared components: a schema with an id (`.meta({ id: 'Message' })`) is
 * written once and referred to. One whose input differs from its output gets a second component, `MessageInput`.
 */
export class JsonSchemas {
  readonly components: Record<string, JsonSchema> = {}
  /** Components as zod made them, to tell whether a second one of equal name is identical. */
  readonly #originals = new Map<string, string>()

  /** The schema of request values. */
  input(schema: z.ZodType): JsonSchema {
    return this.#convert(schema, 'input')
  }

  /** The schema of response values. */
  output(schema: z.ZodType): JsonSchema {
    return this.#convert(schema, 'output')
  }

  #convert(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    // As a member, even the schema itself becomes a reference if it has an id.
    const whole = z.toJSONSchema(z.object({ it: schema }), { io, unrepresentable: 'any', override })
    const parts = Object.entries((whole.$defs ?? {}) as Record<string, JsonSchema>)
    const names = this.#name(parts)
    for (const [name, part] of parts) this.components[names.get(name)!] ??= tidy(part, names)
    return tidy(whole.properties!.it as JsonSchema, names)
  }

  /** A name for each component: its id, unless that is taken by a different one. */
  #name(parts: [string, JsonSchema][]): Map<string, string> {
    const texts = parts.map(([name, part]) => [name, JSON.stringify(part)] as const)
    const names = new Map<string, string>()
    for (let suffix = ''; ; suffix = suffix === '' ? 'Input' : `${suffix}_`) {
      const taken = new Set(texts.filter(([name, text]) => this.#isOther(name + suffix, text)).map(([name]) => name))
      // A component that refers to a renamed one is different too.
      for (let size = -1; size !== taken.size;) {
        size = taken.size
        for (const [name, text] of texts) {
          if ([...taken].some(other => text.includes(`"#/$defs/${other}"`))) taken.add(name)
        }
      }
      for (const [name, text] of texts) {
        if (names.has(name) || taken.has(name)) continue
        names.set(name, name + suffix)
        this.#originals.set(name + suffix, text)
      }
      if (names.size === texts.length) return names
    }
  }

  #isOther(name: string, text: string): boolean {
    const original = this.#originals.get(name)
    return original !== undefined && original !== text
  }
}

/** zod has no JSON form of dates; responses have one. */
function override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonSchema }): void {
  if (zodSchema._zod.def.type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
}

/** Keywords whose value maps names to schemas. */
const maps = new Set(['properties', 'patternProperties'])
/** Keywords that hold values instead of schemas. */
const values = new Set(['default', 'examples', 'enum', 'const'])

/** Points references to the components, and leaves out keywords of no use to a reader. */
function tidy(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  const tidied: JsonSchema = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$ref') tidied.$ref = toReference(value as string, names)
    else if (values.has(key)) tidied[key] = value
    else if (maps.has(key)) tidied[key] = tidyMap(value as Record<string, JsonSchema>, names)
    else if (!isNoise(key, value)) tidied[key] = tidyValue(value, names)
  }
  return mergeTypes(tidied)
}

function tidyMap(map: Record<string, JsonSchema>, names: ReadonlyMap<string, string>): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(map).map(([name, schema]) => [name, tidy(schema, names)]))
}

function tidyValue(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map(item => tidyValue(item, names))
  return typeof value === 'object' && value !== null ? tidy(value as JsonSchema, names) : value
}

function toReference(reference: string, names: ReadonlyMap<string, string>): string {
  const name = reference.replace('#/$defs/', '')
  return `#/components/schemas/${names.get(name) ?? name}`
}

function isNoise(key: string, value: unknown): boolean {
  // Later versions may add members to responses.
  if (key === 'additionalProperties') return value === false
  if (key === 'maximum') return value === Number.MAX_SAFE_INTEGER
  if (key === 'minimum') return value === Number.MIN_SAFE_INTEGER
  return key === 'id' || key === '$schema'
}

/** Merges alternatives of simple types into one schema with several types, which is easier to read. */
function mergeTypes(schema: JsonSchema): JsonSchema {
  const { anyOf, type: _, ...rest } = schema
  if (!Array.isArray(anyOf)) return schema
  const types = anyOf.map((alternative: JsonSchema) => alternative.type)
  const isSimple = types.every(
    type => type === 'string' || type === 'integer' || type === 'number' || type === 'boolean',
  )
  if (!isSimple || new Set(types).size < types.length) return schema
  return { ...Object.assign({}, ...anyOf), type: types, ...rest }
}
