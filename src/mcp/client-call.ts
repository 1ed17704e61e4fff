import type { Principal } from '../auth/principal.ts'
import { NotFound, Problem } from '../lib/errors.ts'
import type { InnerCall, InnerCalls } from '../http/inner-calls.ts'
import type { Reply } from '../http/route.ts'

/** The program that a person uses, by its own words. */
export interface ClientName {
  name: string
  version: string | null
}

/** An app as the API shows it, as far as tools look at it. */
export interface ShownApp {
  id: number
  kind: string
  uid?: string
  name?: string
  description?: string
  metadata?: { mcp?: unknown }
  is_unread: boolean
  permissions?: string[]
}

type Values = Record<string, string | number | boolean | readonly string[] | undefined>

interface ClientCallOptions extends Pick<InnerCall, 'by' | 'origin' | 'addressOf'> {
  calls: InnerCalls
  client: ClientName
  /** Tells a call of a tool from others, so that a repeated one is not done twice; null where it does not. */
  id: string | null
}

/** One request of a client: calls of the API in the name of its user, with the user's rights and nothing beyond them. */
export class ClientCall {
  readonly by: Principal
  readonly client: ClientName
  readonly #options: ClientCallOptions
  /** Counts what one call of a tool writes, so that each has a key of its own. */
  #writes = 0

  constructor(options: ClientCallOptions) {
    this.by = options.by
    this.client = options.client
    this.#options = options
  }

  get<Answer>(path: string, query: Values = {}): Promise<Answer> {
    return this.#call({ method: 'GET', path, query: toQuery(query) })
  }

  post<Answer>(path: string, body?: object): Promise<Answer> {
    return this.#call({ method: 'POST', path, ...(body && { body }), ...this.#key() })
  }

  put<Answer>(path: string, query: Values = {}): Promise<Answer> {
    return this.#call({ method: 'PUT', path, query: toQuery(query) })
  }

  delete<Answer>(path: string): Promise<Answer> {
    return this.#call({ method: 'DELETE', path })
  }

  upload<Answer>(path: string, upload: NonNullable<InnerCall['upload']>): Promise<Answer> {
    return this.#call({ method: 'POST', path, upload, ...this.#key() })
  }

  /** What an endpoint answers that is no JSON. */
  ask(path: string, query: Values = {}): Promise<Reply> {
    const { calls, by, origin, addressOf } = this.#options
    return calls.ask({ method: 'GET', path, query: toQuery(query), by, origin, addressOf })
  }

  /** The app that `ref` names; 404 where the user may not see it, or its `metadata.mcp` is false. */
  async app(ref: string | number): Promise<ShownApp> {
    return requireOpen(await this.get<ShownApp>(`/api/apps/${encodeURIComponent(ref)}`, { out: 'summary' }))
  }

  #key(): { key?: string } {
    const { id } = this.#options
    return id === null ? {} : { key: `mcp ${id} ${this.#writes++}` }
  }

  async #call<Answer>(call: Pick<InnerCall, 'method' | 'path' | 'query' | 'body' | 'upload' | 'key'>): Promise<Answer> {
    const { calls, by, origin, addressOf } = this.#options
    return (await calls.call({ ...call, by, origin, addressOf })) as Answer
  }
}

/** False for an app that is closed to clients: its `metadata.mcp` is false. */
export function isOpen({ metadata }: Pick<ShownApp, 'metadata'>): boolean {
  return metadata?.mcp !== false
}

/** The app, unless it is closed to clients, which is as if it did not exist. */
export function requireOpen<App extends Pick<ShownApp, 'metadata'>>(app: App): App {
  if (!isOpen(app)) throw NotFound()
  return app
}

/** What a refusal tells a model. */
export function toSentence({ code, message, facts }: Problem): string {
  return `${code}: ${message}${facts.retry_after === undefined ? '' : ` Try again in ${String(facts.retry_after)} s.`}`
}

function toQuery(values: Values): string {
  const pairs = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)]),
  )
  return new URLSearchParams(pairs).toString()
}
