import type { Socket } from 'node:net'
import { openSocket } from './socket.ts'

const end = Buffer.from('\r\n\r\n')

/**
 * One keep-alive connection: sends prepared requests, one at a time, and says with which status each was answered.
 * Reads no more of an answer than it must, because it takes its processor time from the server that is measured.
 */
export class HttpConnection {
  readonly #socket: Socket
  readonly #answered: (status: number) => void
  /** The start of a header that did not arrive whole. */
  #head: Buffer | null = null
  #status = 0
  /** Bytes of the body that are still to come. */
  #remaining = 0

  constructor(port: number, answered: (status: number) => void, lost: (error: Error | null) => void) {
    this.#answered = answered
    this.#socket = openSocket(port, bytes => this.#hear(bytes), lost)
  }

  send(request: Buffer | string): void {
    this.#socket.write(request)
  }

  close(): void {
    this.#socket.removeAllListeners('close').destroy()
  }

  #hear(bytes: Buffer): void {
    let data = this.#head === null ? bytes : Buffer.concat([this.#head, bytes])
    this.#head = null
    while (data.length > 0) {
      if (this.#remaining === 0) {
        const at = data.indexOf(end)
        if (at === -1) {
          this.#head = Buffer.from(data)
          return
        }
        const header = data.toString('latin1', 0, at)
        this.#status = Number(header.slice(9, 12))
        this.#remaining = Number(/\r\ncontent-length: *(\d+)/i.exec(header)?.[1] ?? 0)
        data = data.subarray(at + end.length)
      }
      const taken = Math.min(this.#remaining, data.length)
      this.#remaining -= taken
      data = data.subarray(taken)
      if (this.#remaining === 0) this.#answered(this.#status)
    }
  }
}

/** A whole HTTP/1.1 request, ready to be sent. */
export function toRequest(method: string, path: string, token: string | null, body?: unknown): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1']
  if (token !== null) lines.push(`Authorization: Bearer ${token}`)
  if (text !== '') lines.push('Content-Type: application/json')
  if (text !== '' || method !== 'GET') lines.push(`Content-Length: ${Buffer.byteLength(text)}`)
  return `${lines.join('\r\n')}\r\n\r\n${text}`
}
