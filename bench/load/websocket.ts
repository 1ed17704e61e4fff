import type { Socket } from 'node:net'
import { hostOf, openSocket, type Origin } from './socket.ts'

const end = Buffer.from('\r\n\r\n')

/**
 * The least of a WebSocket client: says text frames, hears whole frames, answers pings. A thousand of them fit into
 * one process beside the server that is measured.
 */
export class WebSocketConnection {
  readonly #socket: Socket
  readonly #heard: (frame: Buffer) => void
  readonly #opened: () => void
  readonly #lost: (error: Error | null) => void
  #isOpen = false
  /** Bytes of a frame, or of the handshake, that has not arrived whole. */
  #rest: Buffer | null = null

  /** `heard` must be done with the frame when it returns. */
  constructor(
    { origin, path, token }: { origin: Origin; path: string; token: string | null },
    {
      opened,
      heard,
      lost,
    }: { opened: () => void; heard: (frame: Buffer) => void; lost: (error: Error | null) => void },
  ) {
    this.#opened = opened
    this.#heard = heard
    this.#lost = lost
    this.#socket = openSocket(origin, bytes => this.#hear(bytes), lost)
    this.#socket.write(toUpgrade(hostOf(origin), path, token))
  }

  /** Says a text of less than 64 KiB. */
  say(text: string): void {
    this.#send(1, Buffer.from(text))
  }

  close(): void {
    this.#socket.removeAllListeners('close').destroy()
  }

  #send(opcode: number, payload: Buffer): void {
    const head =
      payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 255]
    // Clients must mask what they send; with a mask of zeros nothing changes.
    this.#socket.write(Buffer.concat([Buffer.from([0x80 | opcode, ...head, 0, 0, 0, 0]), payload]))
  }

  #hear(bytes: Buffer): void {
    let data = this.#rest === null ? bytes : Buffer.concat([this.#rest, bytes])
    this.#rest = null
    if (!this.#isOpen) {
      const at = data.indexOf(end)
      if (at === -1) return this.#keep(data)
      const status = data.toString('latin1', 9, 12)
      if (status !== '101') return this.#lost(new Error(`The WebSocket was refused with ${status}`))
      this.#isOpen = true
      data = data.subarray(at + end.length)
      this.#opened()
    }
    this.#readFrames(data)
  }

  #readFrames(data: Buffer): void {
    let at = 0
    while (at + 2 <= data.length) {
      const short = data[at + 1]! & 127
      const head = short === 126 ? 4 : short === 127 ? 10 : 2
      if (at + head > data.length) break
      const length = short === 126 ? data.readUInt16BE(at + 2) : short === 127 ? data.readUInt32BE(at + 6) : short
      if (at + head + length > data.length) break
      this.#take(data[at]! & 15, data.subarray(at + head, at + head + length))
      at += head + length
    }
    if (at < data.length) this.#keep(data.subarray(at))
  }

  #take(opcode: number, payload: Buffer): void {
    if (opcode === 1 || opcode === 2) return this.#heard(payload)
    if (opcode === 9) return this.#send(10, Buffer.from(payload))
    if (opcode === 8) this.#lost(new Error(`The server closed the WebSocket: ${payload.subarray(2).toString()}`))
  }

  /** The bytes belong to a buffer that is read into again. */
  #keep(data: Buffer): void {
    this.#rest = Buffer.from(data)
  }
}

function toUpgrade(host: string, path: string, token: string | null): string {
  const headers = {
    Host: host,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'Sec-WebSocket-Protocol': 'json',
    ...(token !== null && { Authorization: `Bearer ${token}` }),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}
