import { invalid, problem } from '../lib/errors.ts'

export const MalformedJson = problem(400, 'malformed-json', 'The body is not JSON.')

/** Deeper values overflow the stack of whatever walks them. A guess far above any use. */
const deepest = 64
/** More values than this cost more to check than any operation has use for. A guess far above any use. */
const mostValues = 100_000

/**
 * The value of a JSON text; an empty one counts as `{}`. What comes back is harmless: no deeper than 64 levels, no text
 * that cannot be stored, no `__proto__`. Throws 400 for what is not JSON, 422 for what is not harmless.
 */
export function parseJson(text: string): unknown {
  if (text === '') return {}
  // Shorter texts cannot be too deep, or without escapes hold anything else that does harm: most bodies are done here.
  const isLong = text.length > 2 * deepest
  if (isLong) requireModest(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // A SyntaxError, whose message would only quote the text back.
    throw MalformedJson()
  }
  if (isLong || text.includes('\\u') || text.includes('__proto__')) inspect(value, [])
  return value
}

/**
 * Before it is parsed: to make a value of 16 MiB of brackets or commas takes seconds, and to look for them a tenth of one
 * (measured). Of what is no JSON only what comes before the fault matters. Every value has a comma before it or is the
 * first in its list or object, so at most twice `mostValues` get by.
 */
function requireModest(text: string): void {
  let depth = 0
  let commas = 0
  let openings = 0
  /** Where the last text at the first level begins: in an object, the name of what is looked at. */
  let name = 0
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        if (depth === 1) name = at
        at = findEnd(text, at)
        break
      case ',':
        commas++
        break
      case '[':
      case '{':
        openings++
        // What is at the first level is not nested.
        if (++depth > deepest + 1)
          throw invalid({ [toName(text, name)]: [`must not be nested deeper than ${deepest} levels`] })
        break
      case ']':
      case '}':
        depth--
    }
    if (commas >= mostValues || openings > mostValues)
      throw invalid({ body: [`must not have more than ${mostValues} values`] })
  }
}

/** The place of the quotation mark that ends the text which begins at `start`; behind everything if there is none. */
function findEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text[end - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return end
  }
  return text.length
}

/** Names the member of the outermost object whose name begins at `start`. */
function toName(text: string, start: number): string {
  return /^\s*\{/.test(text) ? text.slice(start + 1, findEnd(text, start)) : 'body'
}

function inspect(value: unknown, path: string[]): void {
  if (typeof value === 'string') return requireText(value, path)
  if (typeof value !== 'object' || value === null) return
  // As an own member it does nothing, but code that copies members one by one would set a prototype with it.
  if (Object.hasOwn(value, '__proto__')) delete (value as Record<string, unknown>)['__proto__']
  for (const key in value) {
    path.push(key)
    requireText(key, path)
    inspect((value as Record<string, unknown>)[key], path)
    path.pop()
  }
}

/** PostgreSQL stores neither NUL nor half a surrogate pair. */
function requireText(text: string, path: string[]): void {
  if (text.isWellFormed() && !text.includes('\0')) return
  throw invalid({ [path.join('.') || 'body']: ['must not contain NUL or broken characters'] })
}
