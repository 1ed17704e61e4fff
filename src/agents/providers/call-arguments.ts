/** Bytes of JSON that a model may write for one call. */
const limitBytes = 1024 * 1024

/** Objects and arrays within each other: written in lines that are indented, what is deeper grows by its square. */
const deepest = 100

/**
 * The arguments that a model wrote for a call; null where they are no JSON object, more than 1 MiB, or nested more than
 * 100 deep. Members named `__proto__`, at any depth, are dropped: copied in the usual ways they would become the prototype
 * of the copy. So is what no database stores: NUL characters, and halves of surrogate pairs.
 */
export function parseArguments(text: string): Record<string, unknown> | null {
  if (Buffer.byteLength(text) > limitBytes) return null
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text, clean)
    return isObject(value) && isWithin(value, deepest) ? value : null
  } catch {
    // Not JSON, or nested so deeply that it cannot be walked: the model is told either way.
    return null
  }
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
