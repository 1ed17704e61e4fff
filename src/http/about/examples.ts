import { readFileSync } from 'node:fs'

/** A request that was sent, and its answer. */
export interface Example {
  /** With values for all names. */
  path: string
  /** `none`: without a credential. */
  as: 'key' | 'token' | 'session' | 'none'
  body?: unknown
  status: number
  answer?: unknown
}

/** By method and path, as in `GET /api/apps/{app}`. A test sends them all, and records them. */
export type Examples = Readonly<Record<string, Example>>

export function readExamples(): Examples {
  return JSON.parse(readFileSync(new URL('examples.json', import.meta.url), 'utf8')) as Examples
}
