import type { z } from 'zod'
import { invalid, NotFound } from '../lib/errors.ts'
import type { RouteDurations } from './about/durations.ts'
import { parseJson } from '../api/json-text.ts'
import { check } from './request/field-errors.ts'
import { knownOf, type Known } from './request/names/known-members.ts'
import { QueryReader } from './request/query.ts'
import { Unknown } from './request/names/unknown.ts'
import { namesOf } from './router.ts'
import type { Route } from './route.ts'

/** The body limit without a credential: reading a body of 1 MiB can take 0.1 s (measured: 80,000 members). */
const unauthenticatedLimitBytes = 64 * 1024

/** A route prepared for serving: everything that does not depend on the request is computed once. */
export class Endpoint {
  readonly route: Route
  readonly durations: RouteDurations
  readonly bodyLimitBytes: number
  /** True where the body is read before the handler runs: to parse it, or to recognise a repeated request. */
  readonly takesBody: boolean
  readonly #names: readonly string[]
  readonly #query: QueryReader
  readonly #body: Known | null

  constructor(route: Route, durations: RouteDurations, bodyLimitBytes: number) {
    this.route = route
    this.durations = durations
    const defaultLimit = route.auth === 'none' ? Math.min(bodyLimitBytes, unauthenticatedLimitBytes) : bodyLimitBytes
    this.bodyLimitBytes = route.bodyLimitBytes ?? defaultLimit
    this.takesBody = route.body !== undefined || (route.creates === true && route.uploadLimitBytes === undefined)
    this.#names = namesOf(route.path)
    this.#query = new QueryReader(route.query)
    this.#body = route.body === undefined ? null : knownOf(route.body, answersOf(route))
  }

  /** Values of a path that the schema refuses name nothing: 404. */
  toParams(values: readonly string[]): unknown {
    const { params } = this.route
    if (params === undefined) return undefined
    const named: Record<string, string> = {}
    for (let i = 0; i < values.length; i++) named[this.#names[i]!] = values[i]!
    const result = params.safeParse(named)
    if (!result.success) throw NotFound()
    return result.data
  }

  /** 422 for unknown parameters, unless `unknown` allows them. */
  toQuery(text: string, unknown: Unknown): unknown {
    const { query, takesAnyQuery } = this.route
    if (query === undefined && (text === '' || takesAnyQuery === true)) return undefined
    const values = this.#query.read(text, takesAnyQuery === true ? new Unknown('silent') : unknown)
    if (query !== undefined) return check(query, values, 'query', unknown.errors)
    if (unknown.errors !== undefined) throw invalid(unknown.errors)
    return undefined
  }

  /** 422 for members that `unknown` refuses. */
  toBody(text: string, unknown: Unknown): unknown {
    const { body } = this.route
    if (body === undefined) return undefined
    const value = this.route.takesForm === true ? Object.fromEntries(new URLSearchParams(text)) : parseJson(text)
    if (this.#body !== null) unknown.look(this.#body, value)
    return check(body, value, 'body', unknown.errors)
  }
}

/** The schemas of what a route answers where it succeeds. */
function answersOf({ replies }: Route): z.ZodType[] {
  return Object.values(replies).filter(schema => schema !== null)
}
