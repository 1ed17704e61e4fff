import { Packr } from 'msgpackr'
import type { Log } from '../lib/log.ts'

/** Dates and bytes arrive as what they are. Every message stands for itself: a later subscriber has missed some. */
const packr = new Packr({ useRecords: false, mapsAsObjects: true, int64AsType: 'number' })

/**
 * The longest message that is read. A guess: far above the longest ones, which are the events of a commit with large
 * texts, and the apps that a node with the most sessions follows.
 */
const mostBytes = 64 * 1024 * 1024

/** The least time between two log lines about messages that were dropped. */
const reportMs = 60_000

/** Reads what arrived on a channel: returns it where it is what the channel carries, and throws otherwise. */
export type ReadMessage<Message> = (received: unknown) => Message

/** The bytes of a message, as every body of the bus carries it. */
export const packMessage = (message: object): Buffer => packr.pack(message)

/**
 * The listeners of a bus, by channel. What arrives is checked here, before any listener gets it: a message that its
 * channel does not carry, from a program of another version or anything else that can publish, is dropped, and logged
 * at most once a minute. So is one that a listener fails on. Nothing is thrown.
 */
export class Listeners {
  readonly #byChannel = new Map<string, (message: unknown) => void>()
  readonly #log: Log
  readonly #nowMs: () => number
  #dropped = 0
  #reportedAtMs = Number.NEGATIVE_INFINITY

  /** `nowMs`: a monotonic clock. */
  constructor(log: Log, nowMs: () => number = () => performance.now()) {
    this.#log = log
    this.#nowMs = nowMs
  }

  /** The channels with a listener. */
  get channels(): Iterable<string> {
    return this.#byChannel.keys()
  }

  has(channel: string): boolean {
    return this.#byChannel.has(channel)
  }

  set<Message>(channel: string, read: ReadMessage<Message>, listener: (message: Message) => void): void {
    this.#byChannel.set(channel, received => listener(read(received)))
  }

  delete(channel: string): void {
    this.#byChannel.delete(channel)
  }

  clear(): void {
    this.#byChannel.clear()
  }

  /** Calls the listener of a channel with the message in these bytes. */
  deliver(channel: string, bytes: Buffer): void {
    const listener = this.#byChannel.get(channel)
    if (listener === undefined) return
    try {
      if (bytes.length > mostBytes) throw new RangeError('It is too long')
      listener(packr.unpack(bytes))
    } catch (error) {
      this.#drop(channel, error)
    }
  }

  #drop(channel: string, error: unknown): void {
    this.#dropped++
    const nowMs = this.#nowMs()
    if (nowMs - this.#reportedAtMs < reportMs) return
    this.#reportedAtMs = nowMs
    const facts = { channel, dropped: this.#dropped, error }
    this.#log.warn(facts, 'A message on the bus was not understood, and dropped; further ones are counted')
    this.#dropped = 0
  }
}

/** True for an object with members, as opposed to an array. For messages that are read by hand. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** True for a number that ids, revs and the like can be. */
export function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
