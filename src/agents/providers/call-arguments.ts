/** The most bytes of JSON that a model may write for one call. */
const limitBytes = 1024 * 1024

/** The most nested objects and arrays: indented lines of deeper ones would grow with the square of their depth. */
const depthLimit = 100

/**
 * Parses the arguments that a model wrote for a call; null where they are no JSON object, more than 1 MiB, or nested
 * more than 100 deep. Drops members named `__proto__`, which the usual ways of copying would turn into a prototype, and
 * NUL characters and halves of surrogate pairs, which no database stores.
 */
export function parseArguments(text: string): Record<string, unknown> | null {
  const read = readArguments(text)
  return typeof read === 'string' ? null : read
}

/** Why a text is not the arguments of a call, in words for the model; null where it is. */
export function faultOf(text: string): string | null {
  const read = readArguments(text)
  return typeof read === 'string' ? read : null
}

/** The arguments, or what is wrong with them. */
function readArguments(text: string): Record<string, unknown> | string {
  if (Buffer.byteLength(text) > limitBytes) return 'they have more than 1 MiB'
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text, clean)
  } catch {
    // Malformed, or too deep to walk: the model gets one error for both.
    return 'they cannot be read as JSON'
  }
  if (!isObject(value))
    return `they are ${value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`}`
  return isWithin(value, depthLimit) ? value : `they are nested more than ${depthLimit} deep`
}

function clean(name: string, member: unknown): unknown {
  if (name === '__proto__' || name.includes('\0') || !name.isWellFormed()) return undefined
  return typeof member === 'string' ? member.replaceAll('\0', '').toWellFormed() : member
}

function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every(member => isWithin(member, depth - 1))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
