/**
 * The array types that queries send and read; elements may be null. Listed here because postgres.js would otherwise ask
 * PostgreSQL for all array types on each new connection, and a connection that was lost while asking would not know
 * them. PostgreSQL refuses an array of any other type as malformed; add its type here.
 */
export const arrayTypes = {
  bigints: { to: 1016, from: [1016], serialize: toLiteral(String), parse: parseBigints },
  texts: { to: 1009, from: [1009], serialize: toLiteral(item => quoteElement(String(item))), parse: parseTexts },
}

/** A string is passed on as it is: it is an array literal already. */
function toLiteral(toElement: (item: unknown) => string) {
  return (items: unknown[] | string) => {
    if (typeof items === 'string') return items
    return `{${items.map(item => (item === null ? 'null' : toElement(item))).join(',')}}`
  }
}

/** Quotes a text as an element of an array literal. */
export function quoteElement(text: string): string {
  // Most texts have neither; two calls of `includes` are faster than one regular expression.
  return text.includes('"') || text.includes('\\') ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`
}

function parseBigints(literal: string): (number | null)[] {
  return parseTexts(literal).map(text => (text === null ? null : Number(text)))
}

function parseTexts(literal: string): (string | null)[] {
  const elements = literal.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/gs)
  return Array.from(elements, ([, quoted, bare]) => {
    if (bare !== undefined) return bare === 'NULL' ? null : bare
    return quoted!.replace(/\\(.)/gs, '$1')
  })
}

/** An array literal of bytea. postgres.js would send an array of buffers as a single value. */
export function toBytesArray(keys: Buffer[]): string {
  return `{${keys.map(key => `"\\\\x${key.toString('hex')}"`).join(',')}}`
}

/** An array literal of numbers; postgres.js sends a string as it is. */
export function toIdArray(ids: number[]): string {
  return `{${ids.join(',')}}`
}
