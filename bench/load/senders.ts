import { HttpConnection } from './http-connection.ts'
import type { Origin } from './socket.ts'

/** Connections at once. Beyond it requests wait here, and their waiting counts. */
const limit = 1_000

interface Waiting {
  request: Buffer | string
  answered: (status: number) => void
}

/** As many connections as there are requests at once: HTTP/1.1 takes one at a time from each. */
export class Senders {
  readonly #origin: Origin
  readonly #fail: (error: Error) => void
  readonly #all: HttpConnection[] = []
  readonly #free: HttpConnection[] = []
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
    const connection = this.#free.pop() ?? (this.#all.length < limit ? this.#connect() : undefined)
    if (connection === undefined) this.#waiting.push({ request, answered })
    else this.#sendOn(connection, { request, answered })
  }

  close(): void {
    for (const connection of this.#all) connection.close()
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
      if (next === undefined) this.#free.push(connection)
      else this.#sendOn(connection, next)
    }
    const lost = (error: Error | null) => {
      // The server closes what was idle for a while; a connection that waits for its answer must not be lost.
      if (this.#answers.has(connection)) return this.#fail(error ?? new Error('The server closed a connection'))
      this.#remove(this.#free, connection)
      this.#remove(this.#all, connection)
    }
    const connection = new HttpConnection(this.#origin, answered, lost)
    this.#all.push(connection)
    return connection
  }

  #remove(list: HttpConnection[], connection: HttpConnection): void {
    const at = list.indexOf(connection)
    if (at !== -1) list.splice(at, 1)
  }
}
