import type { FunctionDefinition } from './function.ts'

/** Arguments that make no valid request. The message is for the model. */
export class BadArguments extends Error {}

export interface FunctionRequest {
  url: string
  /** JSON; absent for methods that send arguments in the query. */
  body?: Buffer
}

/** A URL without its fragment: up to the host, and the rest. */
const parts = /^(https?:\/\/[^/?#]+)([^#]*)/i
const placeholder = /\{([A-Za-z0-9_.$-]{1,64})\}/g
const dotSegment = /^(?:\.|%2e){1,2}$/i

/** Puts arguments into the URL, the query or the body. Throws BadArguments. */
export function toRequest(
  { url: template, method }: Pick<FunctionDefinition, 'url' | 'method'>,
  args: Record<string, unknown>,
): FunctionRequest {
  const used = new Set<string>()
  const url = fill(template, name => {
    used.add(name)
    return toSegment(name, Object.hasOwn(args, name) ? args[name] : undefined)
  })
  const rest = Object.entries(args).filter(([name]) => !used.has(name))
  if (method !== 'GET' && method !== 'DELETE') {
    return { url: url.href, body: Buffer.from(JSON.stringify(Object.fromEntries(rest))) }
  }
  // Not by `searchParams`, which would re-encode the template's own query.
  const query = rest.flatMap(([name, value]) => toTexts(value).map(text => `${encode(name)}=${encode(text)}`))
  const search = [url.search.slice(1), ...query].filter(Boolean).join('&')
  return { url: `${url.origin}${url.pathname}${search && `?${search}`}` }
}

/**
 * Fills the template. Whatever the arguments are, the request goes to the template's host, and to a path of equal
 * depth.
 */
function fill(template: string, segmentOf: (name: string) => string): URL {
  const [, origin = '', rest = ''] = parts.exec(template) ?? []
  const filled = rest.replace(placeholder, (_, name: string) => segmentOf(name))
  const url = URL.parse(origin + filled)
  const blank = URL.parse(origin + rest.replace(placeholder, ''))
  if (url === null || blank === null || origin.includes('{') || url.origin !== blank.origin) {
    throw new BadArguments('The address of this function cannot be made from these arguments.')
  }
  if (countDotSegments(filled) !== countDotSegments(rest)) {
    throw new BadArguments('An argument that is part of a path must not be "." or "..".')
  }
  return url
}

function countDotSegments(pathAndQuery: string): number {
  return pathAndQuery
    .split('?')[0]!
    .split('/')
    .filter(segment => dotSegment.test(segment)).length
}

function toSegment(name: string, value: unknown): string {
  if (value === undefined || value === null) throw new BadArguments(`${name} is missing.`)
  if (typeof value === 'object') throw new BadArguments(`${name} must be a text, a number or a boolean.`)
  if (value === '') throw new BadArguments(`${name} must not be empty.`)
  return encode(String(value))
}

const encode = (text: string) => encodeURIComponent(text.toWellFormed())

/** An array becomes a repeated parameter. */
function toTexts(value: unknown): string[] {
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value.flatMap(item => (Array.isArray(item) ? [JSON.stringify(item)] : toTexts(item)))
  return [typeof value === 'object' ? JSON.stringify(value) : String(value)]
}
