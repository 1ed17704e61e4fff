import type { Http, Method, Query } from './http.ts'
import type { Paths } from './paths.ts'

type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The addresses that take a method. */
export type PathOf<V extends Verb> = {
  [P in keyof Paths]: Paths[P] extends Record<V, unknown> ? P : never
}[keyof Paths]

type Operation<P extends keyof Paths, V extends Verb> = Paths[P] extends Record<V, infer O> ? O : never

/** What a request answers. */
export type AnswerOf<P extends keyof Paths, V extends Verb> = Operation<P, V> extends { answer: infer A } ? A : never

/** What a request takes: the ids of its path, its query and its body. */
export type OptionsOf<P extends keyof Paths, V extends Verb> = Omit<Operation<P, V>, 'answer'> & {
  signal?: AbortSignal
  /** The Idempotency-Key; a POST has one of its own otherwise. */
  key?: string
}

/** One object of options, which may be left out where nothing in it is required. */
type Arguments<Options> = object extends Options ? [options?: Options] : [options: Options]

type ItemOf<Body> = Body extends { data?: (infer Item)[] } ? Item : never

interface AnyOptions {
  path?: Record<string, string | number>
  query?: Query
  body?: unknown
  signal?: AbortSignal
  key?: string
}

const pageSize = 100

/**
 * The whole HTTP API, typed by its description:
 *
 *     const room = await api.get('/api/apps/{app}', { path: { app: 'garden' } })
 *     for await (const user of api.list('/api/users', { query: { directory: 'acme' } })) …
 */
export class Api {
  readonly #http: Http

  constructor(http: Http) {
    this.#http = http
  }

  get<P extends PathOf<'get'>>(path: P, ...options: Arguments<OptionsOf<P, 'get'>>): Promise<AnswerOf<P, 'get'>> {
    return this.#request('GET', path, options[0])
  }

  post<P extends PathOf<'post'>>(path: P, ...options: Arguments<OptionsOf<P, 'post'>>): Promise<AnswerOf<P, 'post'>> {
    return this.#request('POST', path, options[0])
  }

  put<P extends PathOf<'put'>>(path: P, ...options: Arguments<OptionsOf<P, 'put'>>): Promise<AnswerOf<P, 'put'>> {
    return this.#request('PUT', path, options[0])
  }

  patch<P extends PathOf<'patch'>>(
    path: P,
    ...options: Arguments<OptionsOf<P, 'patch'>>
  ): Promise<AnswerOf<P, 'patch'>> {
    return this.#request('PATCH', path, options[0])
  }

  delete<P extends PathOf<'delete'>>(
    path: P,
    ...options: Arguments<OptionsOf<P, 'delete'>>
  ): Promise<AnswerOf<P, 'delete'>> {
    return this.#request('DELETE', path, options[0])
  }

  /** The items of a list, which is read page by page as they are taken. */
  async *list<P extends PathOf<'get'>>(
    path: P,
    ...options: Arguments<OptionsOf<P, 'get'>>
  ): AsyncGenerator<ItemOf<AnswerOf<P, 'get'>>, void, undefined> {
    const wanted = (options[0] ?? {}) as AnyOptions
    for (let skip = Number(wanted.query?.skip ?? 0); ;) {
      const query = { order_by: 'id', take: pageSize, ...wanted.query, skip }
      const page: { data?: ItemOf<AnswerOf<P, 'get'>>[]; count: number } = await this.#request('GET', path, {
        ...wanted,
        query,
      })
      const { data = [], count } = page
      yield* data
      skip += data.length
      if (data.length === 0 || skip >= count) return
    }
  }

  #request<Body>(method: Method, path: string, options: unknown = {}): Promise<Body> {
    const { path: values = {}, query, body, signal, key } = options as AnyOptions
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])))
    return this.#http.request<Body>(method, filled, { query, body, signal, key })
  }
}
