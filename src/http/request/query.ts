import type { z } from 'zod'
import { invalid } from '../../lib/errors.ts'

interface Parameter {
  name: string
  isList: boolean
}

/**
 * Parses query strings for one schema: knows its parameters by name and in camelCase, collects repeated ones where the
 * schema has an array (elsewhere the last one counts), and ignores unknown ones.
 */
export class QueryReader {
  readonly #parameters = new Map<string, Parameter>()

  constructor(schema: z.ZodType) {
    for (const [name, member] of membersOf(schema)) {
      const parameter = { name, isList: unwrap(member).def.type === 'array' }
      this.#parameters.set(toCamelCase(name), parameter)
      this.#parameters.set(name, parameter)
    }
  }

  /** Empty values count as absent. 422 for malformed percent-encoding. */
  read(query: string): Record<string, string | string[]> {
    const values: Record<string, string | string[]> = {}
    if (query === '') return values
    for (const pair of query.split('&')) {
      const end = pair.indexOf('=')
      if (end <= 0 || end === pair.length - 1) continue
      const parameter = this.#parameters.get(decode(pair.slice(0, end), 'query'))
      if (parameter === undefined) continue
      const { name, isList } = parameter
      const value = decode(pair.slice(end + 1), name)
      if (!isList) values[name] = value
      else if (Object.hasOwn(values, name)) (values[name] as string[]).push(value)
      else values[name] = [value]
    }
    return values
  }
}

/** The members of an object schema, also within `optional`, `refine`, `transform` and the like. */
function membersOf(schema: z.ZodType): [string, z.ZodType][] {
  const bare = unwrap(schema)
  if (bare.def.type === 'intersection') {
    const { left, right } = bare.def as unknown as { left: z.ZodType; right: z.ZodType }
    return [...membersOf(left), ...membersOf(right)]
  }
  return Object.entries((bare as Partial<z.ZodObject>).shape ?? {}) as [string, z.ZodType][]
}

/** The input schema behind defaults and transforms. */
function unwrap(schema: z.ZodType): z.ZodType {
  const { in: input, innerType } = schema.def as { in?: z.ZodType; innerType?: z.ZodType }
  const inner = input ?? innerType
  return inner === undefined ? schema : unwrap(inner)
}

function decode(text: string, name: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    const decoded = decodeURIComponent(spaced)
    if (!decoded.includes('\0')) return decoded
  } catch {
    // A URIError: refused below, as NUL is, which PostgreSQL cannot store.
  }
  throw invalid({ [name]: ['is not valid percent-encoded text'] })
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
