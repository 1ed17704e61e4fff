import { z } from 'zod'

export type JsonSchema = { [key: string]: unknown }

/**
 * Turns zod schemas into JSON schemas that share their parts: what carries an id (`.meta({ id: 'Message' })`) is
 * written once, among the components, and referred to. A part that is read differently from how it is written gets a
 * second component, `MessageInput`.
 */
export class JsonSchemas {
  readonly components: Record<string, JsonSchema> = {}
  /** Components as zod made them, for telling whether another one under the same name is the same. */
  readonly #originals = new Map<string, string>()

  /** What a client may send. */
  input(schema: z.ZodType): JsonSchema {
    return this.#convert(schema, 'input')
  }

  /** What a client gets. */
  output(schema: z.ZodType): JsonSchema {
    return this.#convert(schema, 'output')
  }

  #convert(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    // As a member even the schema itself becomes a reference where it has an id.
    const whole = z.toJSONSchema(z.object({ it: schema }), { io, unrepresentable: 'any', override })
    const parts = Object.entries((whole.$defs ?? {}) as Record<string, JsonSchema>)
    const names = this.#name(parts)
    for (const [name, part] of parts) this.components[names.get(name)!] ??= tidy(part, names)
    return tidy(whole.properties!.it as JsonSchema, names)
  }

  /** A name for each part: its own, unless that stands for something else already. */
  #name(parts: [string, JsonSchema][]): Map<string, string> {
    const texts = parts.map(([name, part]) => [name, JSON.stringify(part)] as const)
    const names = new Map<string, string>()
    for (let suffix = ''; ; suffix = suffix === '' ? 'Input' : `${suffix}_`) {
      const taken = new Set(texts.filter(([name, text]) => this.#isOther(name + suffix, text)).map(([name]) => name))
      // What refers to a part under another name is another one itself.
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

/** zod has no JSON form for dates; the JSON writer of responses has one. */
function override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonSchema }): void {
  if (zodSchema._zod.def.type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
}

/** Members whose own members are schemas, under names that mean nothing here. */
const maps = new Set(['properties', 'patternProperties'])
/** Members that hold values and not schemas. */
const values = new Set(['default', 'examples', 'enum', 'const'])

/** References point to the components, and what says nothing to a reader is left out. */
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
  // Later versions may answer with more members.
  if (key === 'additionalProperties') return value === false
  if (key === 'maximum') return value === Number.MAX_SAFE_INTEGER
  if (key === 'minimum') return value === Number.MIN_SAFE_INTEGER
  return key === 'id' || key === '$schema'
}

/** Alternatives of different simple types say the same as one schema with several types, which is easier to read. */
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
