import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually } from './eventually.ts'

/** A request as it arrived. */
export interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  /** Milliseconds since the receiver was started. */
  atMs: number
}

/** Of one request the compiler knows that it is there. */
type Arrived<Count extends number> = Count extends 1 ? [Received] : Received[]

/** How a receiver answers. */
export type Behaviour = (request: Received, response: ServerResponse) => void

/** 200 at once. */
export const acknowledge: Behaviour = (_request, response) => void response.end('ok')

export const answer =
  (status: number, body = '', headers: Record<string, string> = {}): Behaviour =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body)

/** Never answers. */
export const hang: Behaviour = () => {}

/** 200, then a byte at a time, for ever. */
export const drip: Behaviour = (_request, response) => {
  response.writeHead(200)
  const timer = setInterval(() => response.write('.'), 20)
  response.on('close', () => clearInterval(timer))
}

/** 200, then as much as the other side takes, for ever. */
export const flood: Behaviour = (_request, response) => {
  const block = Buffer.alloc(65_536, 'x')
  const more = () => {
    while (!response.destroyed && response.write(block)) continue
  }
  response.writeHead(200)
  response.on('drain', more)
  more()
}

/** A small real server for what Parley sends to the outside: it remembers every request. */
export class Receiver implements AsyncDisposable {
  readonly requests: Received[] = []
  behaviour: Behaviour
  /** The most requests that were being answered at the same time. */
  mostInFlight = 0
  /** Bytes written to all connections so far. */
  sentBytes = 0
  #inFlight = 0
  readonly #startedAt = performance.now()
  readonly #server = createServer((request, response) => void this.#receive(request, response))

  constructor(behaviour: Behaviour) {
    this.behaviour = behaviour
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`
  }

  get inFlight(): number {
    return this.#inFlight
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** Waits until `count` requests have arrived. */
  async take<Count extends number>(count: Count, timeoutMs = 20_000): Promise<Arrived<Count>> {
    await eventually(
      () => {
        if (this.requests.length < count) throw new Error(`${this.requests.length} of ${count} requests have arrived`)
      },
      { timeoutMs },
    )
    return this.requests.slice(0, count) as Arrived<Count>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request
    this.#inFlight++
    this.mostInFlight = Math.max(this.mostInFlight, this.#inFlight)
    let isOpen = true
    const answered = () => {
      if (isOpen) this.#inFlight--
      isOpen = false
    }
    // The sender may have the whole answer, and send the next request, before the response is closed.
    response.on('finish', answered)
    response.on('close', () => {
      answered()
      this.sentBytes += socket.bytesWritten
    })
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const { method = '', url: path = '', headers } = request
    const received = { method, path, headers, body, atMs: performance.now() - this.#startedAt }
    this.requests.push(received)
    this.behaviour(received, response)
  }
}

export async function startReceiver(behaviour: Behaviour = acknowledge): Promise<Receiver> {
  const receiver = new Receiver(behaviour)
  await receiver.listen()
  return receiver
}
