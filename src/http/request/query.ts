import type { z } from 'zod'
import { invalid } from '../../lib/errors.ts'
import type { Unknown } from './names/unknown.ts'

interface Parameter {
  name: string
  isList: boolean
}

/**
 * Parses query strings for one schema: knows its parameters by name and in camelCase, and collects repeated ones where
 * the schema has an array.
 */
export class QueryReader {
  readonly #names: readonly string[]
  readonly #parameters = new Map<string, Parameter>()

  constructor(schema: z.ZodType | undefined) {
    const members = schema === undefined ? [] : membersOf(schema)
    this.#names = members.map(([name]) => name)
    for (const [name, member] of members) {
      const parameter = { name, isList: unwrap(member).def.type === 'array' }
      this.#parameters.set(toCamelCase(name), parameter)
      this.#parameters.set(name, parameter)
    }
  }

  /**
   * Empty values count as absent. Other names go to `unknown`, but for those that begin with an underscore, which are
   * meant for caches. 422 for malformed percent-encoding, and for two values where there is to be one.
   */
  read(query: string, unknown: Unknown): Record<string, string | string[]> {
    const values: Record<string, string | string[]> = {}
    if (query === '') return values
    for (const pair of query.split('&')) {
      const mark = pair.indexOf('=')
      const end = mark === -1 ? pair.length : mark
      if (end === 0) continue
      const given = decode(pair.slice(0, end), 'query')
      const parameter = this.#parameters.get(given)
      if (parameter === undefined) {
        if (!given.startsWith('_')) unknown.addParameter(given, this.#names)
        continue
      }
      if (end >= pair.length - 1) continue
      const { name, isList } = parameter
      const value = decode(pair.slice(end + 1), name)
      if (isList && Object.hasOwn(values, name)) (values[name] as string[]).push(value)
      else if (isList) values[name] = [value]
      else if (unknown.handling !== 'silent' && (values[name] ?? value) !== value)
        throw invalid({ [name]: ['takes one value, and two were given'] })
      else values[name] = value
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
