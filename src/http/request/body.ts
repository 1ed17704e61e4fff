import { problem, type Problem } from '../../lib/errors.ts'
import { everyWhile, type Clock } from '../../lib/clock.ts'
import type { BodyTaker, Exchange } from '../server/exchange.ts'

export const PayloadTooLarge = problem(413, 'payload-too-large', 'The body is larger than this operation accepts.')
export const UnsupportedMediaType = problem(
  415,
  'unsupported-media-type',
  'The body must be JSON in UTF-8, not compressed: Content-Type: application/json.',
)
export const BodyTimeout = problem(408, 'body-timeout', 'The body did not arrive in time.')
export const NotUtf8 = problem(400, 'not-utf-8', 'The body is not UTF-8.')

const jsonTypes = /^(?:application\/(?:json|json-patch\+json|[\w.!#$&^-]+\+json)|text\/json)\s*(?:;|$)/i
const otherCharset = /;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i

/** How much of a body that is too large is still read: a client that is sending would lose an immediate answer. */
export const lingerBytes = 16 * 1024 * 1024

/**
 * uWebSockets.js closes a connection without an answer if less than 160 KiB of a body arrive within 10 s. The client
 * gets an answer a little earlier.
 */
const stallMs = 8_000
const stallBytes = 160 * 1024

const decoder = new TextDecoder('utf-8', { fatal: true })

interface BodyOptions {
  now: () => number
  limitBytes: number
  /** The refusal of any body, as soon as one is seen; undefined where a body is accepted. */
  unwanted: Problem | undefined
  accept: (text: string) => void
  refuse: (problem: Problem, isComplete: boolean) => void
}

/** The limits of a body. */
export interface BodyLimits {
  /** How long a body may take to arrive, whatever its size. */
  deadlineMs: number
  clock: Clock
  signal: AbortSignal
}

/**
 * Receives the bodies of a server's requests as text, each within its size and before the deadline. One sweep over all
 * open bodies finds late ones, so that none needs a timer.
 */
export class Bodies {
  readonly #open = new Set<IncomingBody>()
  readonly #now: () => number
  readonly #beginSweeps: () => void

  constructor({ deadlineMs, clock, signal }: BodyLimits) {
    this.#now = () => clock.now()
    this.#beginSweeps = everyWhile(clock, Math.min(1000, deadlineMs / 4), signal, () => {
      for (const body of this.#open) body.expire(deadlineMs)
      return this.#open.size > 0
    })
  }

  /**
   * Calls `accept` with the text, or `refuse`, unless the client goes away first; within this call if the whole body
   * came with the head. Only before `exchange.detach`. Throws what the headers alone can refuse.
   */
  receive(
    exchange: Exchange,
    limitBytes: number,
    accept: (text: string) => void,
    refuse: (problem: Problem, isComplete: boolean) => void,
  ): void {
    const lengthBytes = Number(exchange.header('content-length'))
    const unwanted = isJson(exchange) ? undefined : UnsupportedMediaType()
    if (lengthBytes > 0 && unwanted !== undefined) throw unwanted
    if (lengthBytes > limitBytes) throw PayloadTooLarge()
    const body = new IncomingBody({ now: this.#now, limitBytes, unwanted, accept, refuse }, this.#open)
    exchange.receive(body)
    this.#beginSweeps()
  }
}

/** True where the headers announce a body. */
export function hasBody(exchange: Exchange): boolean {
  const length = exchange.header('content-length')
  if (length !== '') return length !== '0'
  return exchange.header('transfer-encoding') !== ''
}

function isJson(exchange: Exchange): boolean {
  const type = exchange.header('content-type')
  if (type !== 'application/json' && (!jsonTypes.test(type) || otherCharset.test(type))) return false
  const encoding = exchange.header('content-encoding')
  return encoding === '' || encoding === 'identity'
}

class IncomingBody implements BodyTaker {
  readonly #options: BodyOptions
  readonly #open: Set<IncomingBody>
  readonly #startedAt: number
  #windowAt: number
  #windowBytes = 0
  #chunks: Buffer[] = []
  #sizeBytes = 0
  #refusal: Problem | undefined
  #isOver = false

  constructor(options: BodyOptions, open: Set<IncomingBody>) {
    this.#options = options
    this.#open = open
    this.#startedAt = options.now()
    this.#windowAt = this.#startedAt
    open.add(this)
  }

  take(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#isOver) return
    this.#sizeBytes += chunk.byteLength
    if (this.#sizeBytes > 0) this.#refusal ??= this.#options.unwanted
    if (this.#sizeBytes > this.#options.limitBytes) this.#refusal ??= PayloadTooLarge()
    if (this.#refusal !== undefined) {
      this.#chunks = []
      if (isLast || this.#sizeBytes > this.#options.limitBytes + lingerBytes) this.#refuse(this.#refusal, isLast)
    } else if (!isLast) {
      this.#keep(chunk)
    } else if (this.#chunks.length === 0) {
      // Nearly every body comes in one piece, which is decoded in place.
      this.#finish(chunk)
    } else {
      this.#finish(Buffer.concat([...this.#chunks, Buffer.from(chunk)]))
    }
  }

  cancel(): void {
    this.#isOver = true
    this.#chunks = []
    this.#open.delete(this)
  }

  /** Refuses the body if it is overdue. */
  expire(deadlineMs: number): void {
    const now = this.#options.now()
    if (now - this.#startedAt > deadlineMs || now - this.#windowAt > stallMs) this.#refuse(BodyTimeout(), false)
  }

  #keep(chunk: ArrayBuffer): void {
    this.#chunks.push(Buffer.from(chunk.slice(0)))
    this.#windowBytes += chunk.byteLength
    if (this.#windowBytes < stallBytes) return
    this.#windowBytes = 0
    this.#windowAt = this.#options.now()
  }

  #finish(bytes: ArrayBuffer | Buffer): void {
    let text: string
    try {
      text = decoder.decode(bytes)
    } catch {
      // Decoding fails only on malformed UTF-8.
      return this.#refuse(NotUtf8(), true)
    }
    this.cancel()
    this.#options.accept(text)
  }

  #refuse(problem: Problem, isComplete: boolean): void {
    this.cancel()
    this.#options.refuse(problem, isComplete)
  }
}
