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
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // A SyntaxError, whose message would only quote the text back.
    throw MalformedJson()
  }
  // Short texts without escapes cannot hold any of it: most bodies are done here.
  if (text.length > 2 * deepest || text.includes('\\u') || text.includes('__proto__')) new Inspection().visit(value, [])
  return value
}

class Inspection {
  #values = 0

  visit(value: unknown, path: string[]): void {
    if (++this.#values > mostValues) throw invalid({ body: [`must not have more than ${mostValues} values`] })
    if (typeof value === 'string') return requireText(value, path)
    if (typeof value !== 'object' || value === null) return
    if (path.length > deepest) throw invalid({ [path[0]!]: [`must not be nested deeper than ${deepest} levels`] })
    // As an own member it does nothing, but code that copies members one by one would set a prototype with it.
    if (Object.hasOwn(value, '__proto__')) delete (value as Record<string, unknown>)['__proto__']
    for (const key in value) {
      path.push(key)
      requireText(key, path)
      this.visit((value as Record<string, unknown>)[key], path)
      path.pop()
    }
  }
}

/** PostgreSQL stores neither NUL nor half a surrogate pair. */
function requireText(text: string, path: string[]): void {
  if (text.isWellFormed() && !text.includes('\0')) return
  throw invalid({ [path.join('.') || 'body']: ['must not contain NUL or broken characters'] })
}
