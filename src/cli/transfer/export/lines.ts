import type { DraftLine } from '../format.ts'

/** A line without what it has none of. */
export function toLine<Type extends DraftLine['type']>(
  type: Type,
  members: object,
): Extract<DraftLine, { type: Type }> {
  return Object.assign({ type }, withoutBlanks(members)) as unknown as Extract<DraftLine, { type: Type }>
}

/** An empty list of mentions says that the text mentions none. */
export function withoutBlanks(members: object): object {
  const isKept = ([name, value]: [string, unknown]) =>
    Array.isArray(value) ? value.length > 0 || name === 'mentions' : ![null, undefined, false].includes(value as null)
  return Object.fromEntries(Object.entries(members).filter(isKept))
}

/** All rows of a query that finds those after an id, some at a time. */
export async function* pages<Row extends { id: number }>(
  find: (after: number) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let after = 0
  for (;;) {
    const rows = await find(after)
    if (rows.length === 0) return
    yield rows
    after = rows.at(-1)!.id
  }
}

/** Rows of one query. A guess: some hundred kilobytes. */
export const pageSize = 500
