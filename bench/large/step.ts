/** A part of the load: rows of a few tables, made by SQL. */
export interface Step {
  name: string
  /** Tables whose indexes are made after it. */
  tables: string[]
  /** How many rows are made from numbers from 1 on; what has fewer is not divided. */
  count: number
  /** For the numbers from `from` to `to`, both included. */
  sql: (from: number, to: number) => string
}

/** One of some texts, by a number of any size. */
export function oneOf(texts: string[], number: string): string {
  return `('{${texts.join(',')}}'::text[])[1 + (${number}) % ${texts.length}]`
}

/** Tables that steps make for those after them. */
export const leftovers = [
  'bench_texts',
  'bench_parents',
  'bench_apps',
  'bench_others',
  ...['comment', 'post', 'file', 'message'].map(entity => `bench_told_${entity}`),
]
