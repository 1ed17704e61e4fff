import { HttpConnection } from './http-connection.ts'
import type { Origin } from './socket.ts'

/** Connections at once. Beyond it requests wait here, and their waiting counts. */
const limit = 1_000

/**
 * A connection that was idle for longer is not used again: the server closes it after ten seconds (uWebSockets.js), and
 * what is sent at that moment is lost.
 */
const idleLimitMs = 5_000

interface Waiting {
  request: Buffer | string
  answered: (status: number) => void
}

/** As many connections as there are requests at once: HTTP/1.1 takes one at a time from each. */
export class Senders {
  readonly #origin: Origin
  readonly #fail: (error: Error) => void
  readonly #all: HttpConnection[] = []
  /** The longest idle ones first. */
  readonly #free: { connection: HttpConnection; sinceMs: number }[] = []
  readonly #waiting: Waiting[] = []
  readonly #answers = new Map<HttpConnection, (status: number) => void>()

  /** `fail` is called where a connection was lost that waited for its answer. */
  constructor(origin: Origin, fail: (error: Error) => void) {
    this.#origin = origin
    this.#fail = fail
  }

  /** Requests that were not answered yet. */
  get open(): number {
    return this.#answers.size + this.#waiting.length
  }

  send(request: Buffer | string, answered: (status: number) => void): void {
    this.#closeIdle()
    const connection = this.#free.pop()?.connection ?? (this.#all.length < limit ? this.#connect() : undefined)
    if (connection === undefined) this.#waiting.push({ request, answered })
    else this.#sendOn(connection, { request, answered })
  }

  close(): void {
    for (const connection of this.#all) connection.close()
  }

  #closeIdle(): void {
    const now = performance.now()
    while (this.#free.length > 0 && now - this.#free[0]!.sinceMs > idleLimitMs) {
      const { connection } = this.#free.shift()!
      this.#forget(connection)
      connection.close()
    }
  }

  #sendOn(connection: HttpConnection, { request, answered }: Waiting): void {
    this.#answers.set(connection, answered)
    connection.send(request)
  }

  #connect(): HttpConnection {
    const answered = (status: number) => {
      const tell = this.#answers.get(connection)
      this.#answers.delete(connection)
      tell?.(status)
      const next = this.#waiting.shift()
      if (next === undefined) this.#free.push({ connection, sinceMs: performance.now() })
      else this.#sendOn(connection, next)
    }
    const lost = (error: Error | null) => {
      if (this.#answers.has(connection)) return this.#fail(error ?? new Error('The server closed a connection'))
      const at = this.#free.findIndex(free => free.connection === connection)
      if (at !== -1) this.#free.splice(at, 1)
      this.#forget(connection)
    }
    const connection = new HttpConnection(this.#origin, answered, lost)
    this.#all.push(connection)
    return connection
  }

  #forget(connection: HttpConnection): void {
    const at = this.#all.indexOf(connection)
    if (at !== -1) this.#all.splice(at, 1)
  }
}
