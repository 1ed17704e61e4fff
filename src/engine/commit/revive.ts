/** Restores the dates of a result that was stored as JSON: properties named `…_at`. */
export function reviveDates(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(reviveDates)
  if (typeof result !== 'object' || result === null) return result
  return Object.fromEntries(
    Object.entries(result).map(([key, value]) => [
      key,
      key.endsWith('_at') && typeof value === 'string'
        ? new Date(value)
        : key === 'metadata'
          ? value
          : reviveDates(value),
    ]),
  )
}
