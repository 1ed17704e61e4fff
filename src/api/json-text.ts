import { invalid, Problem, problem } from '../lib/errors.ts'
import { findJsonFault } from './json-fault.ts'
import { requireFaithful } from './json-fidelity.ts'

export const MalformedJson = problem(400, 'malformed-json', 'The body is not JSON.')

/**
 * The most nested levels: deeper values would overflow the stack of code that walks them. A guess far above any use.
 */
const depthLimit = 64
/** The most values: more cost more to check than any operation needs. A guess far above any use. */
const valueLimit = 100_000
/** The most members of all objects: 60,000 different names take 60 ms. A guess far above any use. */
const memberLimit = 30_000

/**
 * Parses the JSON of a request; an empty text counts as `{}`. The result says what the text says: 422 for what would be
 * changed by parsing or storing it, and for more than 64 levels or 30,000 members. Throws 400 for what is not JSON.
 */
export function parseJson(text: string): unknown {
  if (text === '') return {}
  // A shorter text cannot be too deep, nor, without escapes, hold any other harmful value: most bodies need no further
  // check.
  const isLong = text.length > 2 * depthLimit
  if (isLong) requireWithinLimits(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed(text)
  }
  requireFaithful(text, value)
  if (isLong || text.includes('\\u') || text.includes('__proto__')) requireStorable(value, [])
  return value
}

/** The longest text that is searched for its fault: 20 ms. */
const longestSearched = 2 * 1024 * 1024

/** A 400 that says where the text is no JSON: the message of the SyntaxError often quotes it without a place. */
function malformed(text: string): Problem {
  const { status, code, detail } = MalformedJson
  const fault = text.length > longestSearched ? null : findJsonFault(text)
  if (fault === null) return MalformedJson()
  const { line, column, expected, found } = fault
  const sentence = `${detail.slice(0, -1)}: at line ${line}, column ${column}, ${expected} is expected, not ${found}.`
  return new Problem(status, code, sentence, { line, column })
}

/**
 * Checks depth and number of values before parsing: to build the value of 16 MiB of brackets or commas takes seconds,
 * to scan the text a tenth of one (measured). In malformed JSON only the text before the fault matters. Every value
 * follows a comma or is the first in its array or object, so at most twice `valueLimit` pass.
 */
function requireWithinLimits(text: string): void {
  let depth = 0
  let commas = 0
  let colons = 0
  let openings = 0
  /** Where the latest text at the first level begins: in an object, the name of the member. */
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
      case ':':
        colons++
        break
      case '[':
      case '{':
        openings++
        // The first level is not nested.
        if (++depth > depthLimit + 1)
          throw invalid({ [toName(text, name)]: [`must not be nested deeper than ${depthLimit} levels`] })
        break
      case ']':
      case '}':
        depth--
    }
    if (commas >= valueLimit || openings > valueLimit)
      throw invalid({ body: [`must not have more than ${valueLimit} values`] })
    if (colons > memberLimit) throw invalid({ body: [`must not have more than ${memberLimit} members of objects`] })
  }
}

/**
 * The position of the quotation mark that ends the text which begins at `start`; the end of `text` if there is none.
 */
function findEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text[end - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return end
  }
  return text.length
}

/** The name, for an error, of the outermost object's member whose name begins at `start`. */
function toName(text: string, start: number): string {
  return /^\s*\{/.test(text) ? text.slice(start + 1, findEnd(text, start)) : 'body'
}

function requireStorable(value: unknown, path: string[]): void {
  if (typeof value === 'string') return requireText(value, path)
  if (typeof value !== 'object' || value === null) return
  // As an own member it is harmless, but code that copies members one by one would set a prototype with it. No body has
  // a member of this name, so there it is ignored as other unknown members are.
  if (Object.hasOwn(value, '__proto__')) {
    if (path.length > 0) throw invalid({ [path.join('.')]: ['must not have a member __proto__'] })
    delete (value as Record<string, unknown>)['__proto__']
  }
  for (const key in value) {
    path.push(key)
    requireText(key, path)
    requireStorable((value as Record<string, unknown>)[key], path)
    path.pop()
  }
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
function requireText(text: string, path: string[]): void {
  if (text.isWellFormed() && !text.includes('\0')) return
  throw invalid({ [path.join('.') || 'body']: ['must not contain NUL or broken characters'] })
}
