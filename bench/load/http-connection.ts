import type { Socket } from 'node:net'
import { hostOf, openSocket, type Origin } from './socket.ts'

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

  constructor(origin: Origin, answered: (status: number) => void, lost: (error: Error | null) => void) {
    this.#answered = answered
    this.#socket = openSocket(origin, bytes => this.#hear(bytes), lost)
  }

  send(request: Buffer | string): void {
    this.#socket.write(request)
  }

  close(): void {
    this.#socket.removeAllListeners('close').destroy()
  }

  #hear(bytes: Buffer): void {
    const data = this.#head === null ? bytes : Buffer.concat([this.#head, bytes])
    this.#head = null
    let at = 0
    while (at < data.length) {
      if (this.#remaining === 0) {
        const head = readHead(data, at)
        if (head === null) {
          this.#head = Buffer.from(data.subarray(at))
          return
        }
        this.#status = head.status
        this.#remaining = head.bodyBytes
        at = head.end
      }
      const taken = Math.min(this.#remaining, data.length - at)
      this.#remaining -= taken
      at += taken
      if (this.#remaining === 0) this.#answered(this.#status)
    }
  }
}

interface Head {
  status: number
  bodyBytes: number
  /** Where the body begins. */
  end: number
}

const carriageReturn = 13
const lengthName = Buffer.from('content-length:')

/** Null where it is not whole. Byte by byte: making a string of it and looking into that took five times as long. */
function readHead(data: Buffer, start: number): Head | null {
  let bodyBytes = 0
  let line = start
  for (;;) {
    const lineEnd = data.indexOf(carriageReturn, line)
    if (lineEnd === -1 || lineEnd + 1 >= data.length) return null
    if (lineEnd === line) return { status: readNumber(data, start + 9), bodyBytes, end: lineEnd + 2 }
    if (startsWith(data, line, lengthName)) bodyBytes = readNumber(data, line + lengthName.length)
    line = lineEnd + 2
  }
}

/** `name` in lower case. */
function startsWith(data: Buffer, at: number, name: Buffer): boolean {
  for (let i = 0; i < name.length; i++) if ((data[at + i]! | 0x20) !== name[i]) return false
  return true
}

/** The digits at this place, behind any spaces. */
function readNumber(data: Buffer, start: number): number {
  let value = 0
  for (let at = start; at < data.length; at++) {
    const byte = data[at]!
    if (byte >= 48 && byte <= 57) value = value * 10 + byte - 48
    else if (byte !== 32) break
  }
  return value
}

/** Stands for the server's name in a request: which one it goes to is known when it is sent. */
const openHost = 'Host: {host}'

/** A whole HTTP/1.1 request, to be sent when it was addressed. */
export function toRequest(method: string, path: string, token: string | null, body?: unknown): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const lines = [`${method} ${path} HTTP/1.1`, openHost]
  if (token !== null) lines.push(`Authorization: Bearer ${token}`)
  if (text !== '') lines.push('Content-Type: application/json')
  if (text !== '' || method !== 'GET') lines.push(`Content-Length: ${Buffer.byteLength(text)}`)
  return `${lines.join('\r\n')}\r\n\r\n${text}`
}

/** The request as this server gets it. */
export function addressed(request: string, origin: Origin): string {
  return request.replace(openHost, `Host: ${hostOf(origin)}`)
}
