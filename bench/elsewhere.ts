import type { Origin } from './load/socket.ts'
import { callApi, type Server } from './server.ts'

/** A server that runs elsewhere and was not started by the bench. Nothing is known of it but what it answers. */
export class Elsewhere implements Server {
  readonly origins: Origin[]
  readonly processes = null
  readonly #base: string
  readonly #key: string

  /** `key` is an API key of it. */
  constructor(url: string, key: string) {
    const { protocol, hostname, port, origin, pathname } = new URL(url)
    const isSecure = protocol === 'https:'
    if (pathname !== '/') throw new Error('--url is an origin, as in https://chat.example, with nothing after it')
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    this.origins = [{ host, port: Number(port) || (isSecure ? 443 : 80), isSecure }]
    this.#base = origin
    this.#key = key
  }

  call(method: string, path: string, body?: unknown, credential = this.#key): Promise<string> {
    return callApi(this.#base, { method, path, body, credential })
  }
}
