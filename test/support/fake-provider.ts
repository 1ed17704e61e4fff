import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from './eventually.ts'
import { forms, type Said } from './vendor-forms.ts'

/** How one request is answered. */
export type Reply = Transport &
  (
    | Said
    /** An error, or whatever else. */
    | { status: number; headers?: Record<string, string>; body: unknown }
    /** A stream as it stands, or JSON. */
    | { stream: string; type?: string }
    /** Never. */
    | { hang: true }
  )

interface Transport {
  /** `bytes`: each byte apart; a number: two chunks, of which the first has so many bytes. */
  chunks?: 'bytes' | number
  /** Before the first byte of the body. */
  delayMs?: number
  /** Bytes of the body after which the connection is cut. */
  cut?: number
  /** Where it is cut, the answer ends in good order instead. */
  endsWell?: boolean
  /** Where it is cut, nothing more comes, and the connection stays open. */
  stalls?: boolean
}

/** A request as it arrived. */
export interface Asked {
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** Of a shape that differs by vendor: tests name the members that they expect. */
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

/**
 * A server that speaks the protocols of all vendors. Requests are answered from a queue, then by `otherwise`, and
 * remembered. Start it by hand with `node test/support/fake-provider.ts 9000`, and point OPENAI_URL and others at it.
 */
export class FakeProvider implements AsyncDisposable {
  readonly requests: Asked[] = []
  readonly #replies: Reply[] = []
  readonly #otherwise: Reply
  /** Requests that the client cut before their answer was complete. */
  cutByClient = 0
  #open = 0
  mostOpen = 0
  readonly #server = createServer((request, response) => void this.#receive(request, response))

  constructor(otherwise: Reply) {
    this.#otherwise = otherwise
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Requests that are being answered. */
  get open(): number {
    return this.#open
  }

  async listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** Answers the next requests, one each. */
  queue(...replies: Reply[]): void {
    this.#replies.push(...replies)
  }

  /** Waits until `count` requests have arrived. */
  async take(count: number): Promise<Asked[]> {
    await eventually(() => {
      if (this.requests.length < count) throw new Error(`${this.requests.length} of ${count} requests have arrived`)
    })
    return this.requests.slice(0, count)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.mostOpen = Math.max(this.mostOpen, ++this.#open)
    let isDone = false
    response.on('close', () => {
      this.#open--
      if (!isDone) this.cutByClient++
    })
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const { method = '', url: path = '', headers } = request
    this.requests.push({ method, path, headers, body: text === '' ? undefined : JSON.parse(text) })
    const reply = this.#replies.shift() ?? this.#otherwise
    if ('hang' in reply) return
    if (reply.delayMs !== undefined) await delay(reply.delayMs)
    const { status, type, body } = toAnswer(path, reply)
    response.writeHead(status, {
      'content-type': type,
      'request-id': 'req_1',
      ...('headers' in reply && reply.headers),
    })
    const bytes = Buffer.from(body)
    isDone = !reply.stalls
    // HTTP keeps chunks apart, also where TCP does not: each is told of on its own.
    for (const piece of toPieces(bytes.subarray(0, reply.cut), reply.chunks)) response.write(piece)
    if (reply.stalls) return
    if (reply.cut === undefined || reply.endsWell) response.end()
    else response.destroy()
  }
}

export async function startFakeProvider(
  otherwise: Reply = { text: 'An answer of the fake provider.' },
  port = 0,
): Promise<FakeProvider> {
  const provider = new FakeProvider(otherwise)
  await provider.listen(port)
  return provider
}

function toAnswer(path: string, reply: Reply): { status: number; type: string; body: string } {
  const stream = { status: 200, type: 'text/event-stream' }
  if ('stream' in reply) return { ...stream, ...(reply.type && { type: reply.type }), body: reply.stream }
  if ('status' in reply) {
    const body = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body)
    return { status: reply.status, type: 'application/json', body }
  }
  const said = reply as Said
  if (path.endsWith('/v1/messages')) return { ...stream, body: forms.anthropic(said) }
  if (path.endsWith('/responses')) return { ...stream, body: forms.responses(said) }
  if (path.endsWith('/chat/completions')) return { ...stream, body: forms.chat(said) }
  if (path.includes('/v1beta/models/')) return { ...stream, body: forms.gemini(said) }
  if (path.startsWith('/query/v1/')) return { status: 200, type: 'application/json', body: forms.kapa(said) }
  return { status: 404, type: 'application/json', body: '{"error":{"message":"There is no such path"}}' }
}

function toPieces(bytes: Buffer, chunks: Transport['chunks']): Buffer[] {
  if (chunks === undefined) return [bytes]
  if (chunks === 'bytes') return [...bytes].map(byte => Buffer.of(byte))
  return [bytes.subarray(0, chunks), bytes.subarray(chunks)]
}

if (import.meta.main) {
  const { url } = await startFakeProvider(undefined, Number(process.argv[2] ?? 0))
  process.stdout.write(`The fake provider listens on ${url}\n`)
}
