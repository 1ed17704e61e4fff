import { Transform, type TransformCallback } from 'node:stream'
import type { Rewrite } from './proxy.ts'

// What makes the server look as if it were broken, done on the way between it and its clients: a check that finds
// nothing then is blind. The server itself has no switches for it.

/** Every Idempotency-Key gets lost: a request that is repeated is a new one. */
export const withoutKeys: Rewrite = {
  toServer: () => {
    const name = Buffer.from('idempotency-key')
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        // Clients write a request's head at once. Of the same length, so that nothing else changes.
        for (let at = chunk.indexOf(name); at !== -1; at = chunk.indexOf(name, at)) chunk.write('x-dropped-thing', at)
        done(null, chunk)
      },
    })
  },
}

/** Of everything that follows a resumed subscription, the first event gets lost: a replay that skips one. */
export const skippingReplays: Rewrite = { toClient: () => new ReplaySkipper() }

/** The bits of a frame's first byte that say what it holds, and that nothing of it follows. */
const isWholeText = 0x81

/**
 * Reads what a server writes on one connection: an HTTP answer that upgrades it, then WebSocket frames, which are not
 * masked in this direction. Anything else passes.
 */
class ReplaySkipper extends Transform {
  #waiting = Buffer.alloc(0)
  #state: 'head' | 'frames' | 'other' = 'head'
  /** Subscriptions that have just been resumed. */
  readonly #resumed = new Set<string>()

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#waiting = Buffer.concat([this.#waiting, chunk])
    if (this.#state === 'head') this.#readHead()
    if (this.#state === 'frames') this.#readFrames()
    if (this.#state === 'other') this.#pass(this.#waiting.length)
    done()
  }

  #readHead(): void {
    const end = this.#waiting.indexOf('\r\n\r\n')
    if (end === -1) return
    const head = this.#waiting.toString('latin1', 0, end).toLowerCase()
    const isRealtime = head.startsWith('http/1.1 101') && head.includes('sec-websocket-protocol: json')
    this.#state = isRealtime ? 'frames' : 'other'
    if (isRealtime) this.#pass(end + 4)
  }

  #readFrames(): void {
    for (;;) {
      const [first = 0, length = 0] = this.#waiting
      const headBytes = length < 126 ? 2 : length === 126 ? 4 : 10
      if (this.#waiting.length < headBytes) return
      const short = length === 126 ? this.#waiting.readUInt16BE(2) : length
      const bodyBytes = length === 127 ? Number(this.#waiting.readBigUInt64BE(2)) : short
      const bytes = headBytes + bodyBytes
      if (this.#waiting.length < bytes) return
      const text = first === isWholeText ? this.#waiting.toString('utf8', headBytes, bytes) : '{}'
      if (this.#isSkipped(JSON.parse(text))) this.#waiting = this.#waiting.subarray(bytes)
      else this.#pass(bytes)
    }
  }

  #isSkipped({
    type,
    app_id,
    rev,
    head_rev,
  }: {
    type?: string
    app_id: string
    rev: string
    head_rev: string
  }): boolean {
    // Something was missed: what comes now is a replay.
    if (type === 'subscribed' && Number(rev) < Number(head_rev)) this.#resumed.add(app_id)
    return type === 'event' && this.#resumed.delete(app_id)
  }

  #pass(bytes: number): void {
    this.push(this.#waiting.subarray(0, bytes))
    this.#waiting = this.#waiting.subarray(bytes)
  }
}
