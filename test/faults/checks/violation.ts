import type { Moment } from '../history.ts'

/** A promise that was broken, and what helps to find out how. */
export interface Violation {
  /** The promise, in a few words. */
  rule: string
  /** What is wrong, with numbers. */
  what: string
  /** When it happened, as far as it shows. */
  at?: Moment | undefined
  /** What else in the history tells of it. */
  app?: number | undefined
  key?: string | undefined
  rev?: number | undefined
  observer?: string | undefined
}
