/** Bytes of JSON that a model may write for one call. */
const limitBytes = 1024 * 1024

/**
 * The arguments that a model wrote for a call; null where they are no JSON object, or more than 1 MiB. Members named
 * `__proto__`, at any depth, are dropped: copied in the usual ways they would become the prototype of the copy.
 */
export function parseArguments(text: string): Record<string, unknown> | null {
  if (Buffer.byteLength(text) > limitBytes) return null
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text, (name, member: unknown) => (name === '__proto__' ? undefined : member))
    return isObject(value) ? value : null
  } catch {
    // Not JSON, or nested so deeply that it cannot be walked: the model is told either way.
    return null
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
