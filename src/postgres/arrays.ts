/**
 * The types of arrays that queries send and read, in which elements may be null. Known from the start: postgres.js
 * would ask PostgreSQL for all array types on each new connection, and one that was ended meanwhile never had them.
 * An array of any other type is refused by PostgreSQL as malformed; add its type here.
 */
export const arrayTypes = {
  bigints: { to: 1016, from: [1016], serialize: toLiteral(String), parse: parseBigints },
  texts: { to: 1009, from: [1009], serialize: toLiteral(item => quote(String(item))), parse: parseTexts },
}

/** Strings are array literals already. */
function toLiteral(toElement: (item: unknown) => string) {
  return (items: unknown[] | string) => {
    if (typeof items === 'string') return items
    return `{${items.map(item => (item === null ? 'null' : toElement(item))).join(',')}}`
  }
}

/** A text as an element of an array literal. */
export function quote(text: string): string {
  // Most have neither; to look for one at a time is faster than a pattern.
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

/** An array literal: of these, postgres.js would make a single value instead of an array. */
export function toBytesArray(keys: Buffer[]): string {
  return `{${keys.map(key => `"\\\\x${key.toString('hex')}"`).join(',')}}`
}

/** An array literal, which postgres.js passes on as it is. */
export function toIdArray(ids: number[]): string {
  return `{${ids.join(',')}}`
}
