import { Problem, problem } from '../../../lib/errors.ts'
import { everyWhile, type Clock } from '../../../lib/clock.ts'
import type { BodyTaker, Exchange } from '../../server/exchange.ts'
import { TooManyRequests } from '../rate-limit.ts'
import type { Caller } from '../turns.ts'

export const PayloadTooLarge = problem(413, 'payload-too-large', 'The body is larger than this operation accepts.')

/** A 413 that says how much is accepted. */
export function payloadTooLarge(limitBytes: number): Problem {
  const { status, code } = PayloadTooLarge
  const mebibytes = limitBytes / 1024 / 1024
  const limit = Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${Math.floor(limitBytes / 1024)} KiB`
  return new Problem(status, code, `The body is larger than the ${limit} that this operation accepts.`)
}

export const UnsupportedMediaType = problem(
  415,
  'unsupported-media-type',
  'The body must be JSON in UTF-8, not compressed: Content-Type: application/json.',
)
export const FormNeeded = problem(
  415,
  'unsupported-media-type',
  'The body must be a form in UTF-8, not compressed: Content-Type: application/x-www-form-urlencoded.',
)
export const BodyTimeout = problem(408, 'body-timeout', 'The body did not arrive in time.')
export const NotUtf8 = problem(400, 'not-utf-8', 'The body is not UTF-8.')

const jsonTypes = /^(?:application\/(?:json|json-patch\+json|[\w.!#$&^-]+\+json)|text\/json)\s*(?:;|$)/i
const formType = /^application\/x-www-form-urlencoded\s*(?:;|$)/i
const otherCharset = /;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i

/**
 * uWebSockets.js closes a connection without an answer if less than 160 KiB of a body arrive within 10 s. The client
 * gets an answer a little earlier.
 */
const stallMs = 8_000
const stallBytes = 160 * 1024

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The most bytes of bodies that are kept for one caller while they arrive: one with a picture, or four others. */
const arrivingBytes = 16 * 1024 * 1024

/** A body from here on has its place among these from the start, as its head says how long it is. Others rarely wait. */
const longBytes = 64 * 1024

interface BodyOptions {
  /** Counts bytes that are kept of the caller's bodies, or are kept no more; returns all that are. */
  count: (bytes: number) => number
  /** What is counted already. */
  countedBytes: number
  now: () => number
  limitBytes: number
  /** The refusal of any body, as soon as one is seen; undefined where a body is accepted. */
  unwanted: Problem | undefined
  /** Says that the rest of the body is not to be read. */
  stopReading: () => void
  accept: (text: string) => void
  /** `isLate`: what is left of it is not expected any more. */
  refuse: (problem: Problem, isLate: boolean) => void
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
  /** Caller → bytes of bodies that have arrived in part. */
  readonly #arriving = new Map<Caller, number>()
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
   * came with the head. Only before `exchange.detach`. Throws what the headers alone can refuse. 429 where too much is
   * arriving in other bodies of the caller.
   */
  receive(
    exchange: Exchange,
    { limitBytes, caller, isForm = false }: { limitBytes: number; caller: Caller | null; isForm?: boolean },
    accept: (text: string) => void,
    refuse: (problem: Problem, isLate: boolean) => void,
  ): void {
    const lengthBytes = Number(exchange.header('content-length'))
    const isWanted = isForm ? isPlain(exchange, formType) : isJson(exchange)
    const unwanted = isWanted ? undefined : unsupported(isForm, exchange.header('content-type'))
    if (lengthBytes > 0 && unwanted !== undefined) throw unwanted
    if (lengthBytes > limitBytes) throw payloadTooLarge(limitBytes)
    const count = (bytes: number) => (caller === null ? 0 : this.#count(caller, bytes))
    const countedBytes = lengthBytes >= longBytes ? lengthBytes : 0
    if (countedBytes > 0 && count(countedBytes) > arrivingBytes) {
      count(-countedBytes)
      exchange.leaveUnread()
      throw TooManyRequests({ retry_after: 1 })
    }
    const stopReading = () => exchange.leaveUnread()
    const options = { now: this.#now, limitBytes, unwanted, count, countedBytes, stopReading, accept, refuse }
    const body = new IncomingBody(options, this.#open)
    exchange.receive(body)
    this.#beginSweeps()
  }

  #count(caller: Caller, bytes: number): number {
    const all = (this.#arriving.get(caller) ?? 0) + bytes
    if (all > 0) this.#arriving.set(caller, all)
    else this.#arriving.delete(caller)
    return all
  }
}

/** True where the headers announce a body. */
export function hasBody(exchange: Exchange): boolean {
  const length = exchange.header('content-length')
  if (length !== '') return length !== '0'
  return exchange.header('transfer-encoding') !== ''
}

/** A 415 that says what was sent instead. */
function unsupported(isForm: boolean, type: string): Problem {
  const { status, code, detail } = isForm ? FormNeeded : UnsupportedMediaType
  const sent = type === '' ? 'no Content-Type' : `Content-Type: ${type.slice(0, 128)}`
  return new Problem(status, code, `${detail} The request has ${sent}.`)
}

function isJson(exchange: Exchange): boolean {
  return isPlain(exchange, exchange.header('content-type') === 'application/json' ? null : jsonTypes)
}

/** True where the body has one of these types, if any, in UTF-8 and not compressed. */
function isPlain(exchange: Exchange, types: RegExp | null): boolean {
  const type = exchange.header('content-type')
  if (types !== null && (!types.test(type) || otherCharset.test(type))) return false
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
  #countedBytes: number
  #sizeBytes = 0
  #isOver = false

  constructor(options: BodyOptions, open: Set<IncomingBody>) {
    this.#options = options
    this.#open = open
    this.#countedBytes = options.countedBytes
    this.#startedAt = options.now()
    this.#windowAt = this.#startedAt
    open.add(this)
  }

  take(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#isOver) return
    this.#sizeBytes += chunk.byteLength
    if (this.#sizeBytes > 0 && this.#options.unwanted !== undefined) {
      this.#refuse(this.#options.unwanted)
    } else if (this.#sizeBytes > this.#options.limitBytes) {
      this.#refuse(payloadTooLarge(this.#options.limitBytes))
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
    if (this.#countedBytes > 0) this.#options.count(-this.#countedBytes)
    this.#countedBytes = 0
    this.#open.delete(this)
  }

  /** Refuses the body if it is overdue. */
  expire(deadlineMs: number): void {
    const now = this.#options.now()
    if (now - this.#startedAt > deadlineMs || now - this.#windowAt > stallMs) this.#refuse(BodyTimeout(), true)
  }

  #keep(chunk: ArrayBuffer): void {
    const more = this.#sizeBytes - this.#countedBytes
    if (more > 0) {
      this.#countedBytes += more
      if (this.#options.count(more) > arrivingBytes) {
        this.#options.stopReading()
        return this.#refuse(TooManyRequests({ retry_after: 1 }))
      }
    }
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
      return this.#refuse(NotUtf8())
    }
    this.cancel()
    this.#options.accept(text)
  }

  #refuse(problem: Problem, isLate = false): void {
    this.cancel()
    this.#options.refuse(problem, isLate)
  }
}
