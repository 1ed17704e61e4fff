import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { base } from '../base.ts'
import { Refusal } from './refusal.ts'
import type { AdminSession } from './shapes.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type Query = Record<string, string | number | boolean | undefined>

interface CallOptions {
  query?: Query
  body?: unknown
  signal?: AbortSignal | undefined
}

/**
 * The server of this page. Calls go to `/admin/api`, where the session's cookie counts, and reject with a Refusal.
 * `onSignedOut` is called where the session turns out to be over.
 */
export class Server {
  readonly #onSignedOut: () => void

  constructor(onSignedOut: () => void) {
    this.#onSignedOut = onSignedOut
  }

  get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
    return this.#call('GET', path, { query, signal })
  }

  post<T = void>(path: string, body: unknown = {}): Promise<T> {
    return this.#call('POST', path, { body })
  }

  put(path: string, body: unknown): Promise<void> {
    return this.#call('PUT', path, { body })
  }

  patch(path: string, body: unknown): Promise<void> {
    return this.#call('PATCH', path, { body })
  }

  remove(path: string, query: Query = {}): Promise<void> {
    return this.#call('DELETE', path, { query })
  }

  /** Signs in; the session is then the browser's cookie, which no script can see. */
  signIn(api_key: string): Promise<void> {
    return send('POST', '/session', { body: { api_key } })
  }

  session(): Promise<AdminSession> {
    return send('GET', '/session', {})
  }

  async signOut(): Promise<void> {
    await send('DELETE', '/session', {})
    this.#onSignedOut()
  }

  /** A list as lines of JSON, to be saved. */
  async download(path: string, query: Query): Promise<Blob> {
    const response = await ask('GET', `/api${path}`, { query }, 'application/x-ndjson')
    return response.blob()
  }

  async #call<T>(method: Method, path: string, options: CallOptions): Promise<T> {
    try {
      return await send<T>(method, `/api${path}`, options)
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) this.#onSignedOut()
      throw error
    }
  }
}

/** How long an answer may take, after which it counts as none: as long as proxies wait. A connection can be lost unnoticed. */
const patienceMs = 60_000

async function send<T>(method: Method, path: string, { signal, ...options }: CallOptions): Promise<T> {
  const asked = new AbortController()
  const giveUp = () => asked.abort()
  const timer = setTimeout(giveUp, patienceMs)
  signal?.addEventListener('abort', giveUp)
  try {
    const response = await ask(method, path, { ...options, signal: asked.signal }, 'application/json')
    // A call that answers nothing is declared with `void`.
    return (response.status === 204 ? undefined : await response.json()) as T
  } catch (error) {
    // What is no JSON is the answer of something else than the server.
    throw error instanceof Refusal ? error : Refusal.unreachable()
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
}

async function ask(method: Method, path: string, { query = {}, body, signal }: CallOptions, accept: string) {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value))
  }
  const target = search.size === 0 ? `${base}${path}` : `${base}${path}?${search}`
  const response = await fetch(target, {
    method,
    headers: {
      Accept: accept,
      Prefer: 'scalars=number',
      'X-Parley-Admin': '1',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  }).catch(() => {
    throw Refusal.unreachable()
  })
  if (!response.ok) throw await Refusal.read(response)
  return response
}

export const ServerContext = createContext<Server | null>(null)

export function useServer(): Server {
  return useContext(ServerContext)!
}
