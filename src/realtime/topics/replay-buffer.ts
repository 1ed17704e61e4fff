/** An encoded event. */
export interface EncodedEvent {
  readonly rev: number
  /** The topic under which it was published. */
  readonly topic: string
  readonly bytes: Uint8Array
  /** What its bytes do not have, as only sessions of one user get it. */
  readonly own?: OwnKey | null
}

/** The Idempotency-Key of an event, for the sessions of the user who sent it. */
export interface OwnKey {
  readonly user: number
  readonly key: string
}

/** The overhead of an entry in bytes. Measured: an object, its view of a buffer, two array slots. With a key: a guess. */
const entryBytes = 200
const keyedEntryBytes = 350

const overheadOf = ({ own }: EncodedEvent) => (own ? keyedEntryBytes : entryBytes)

/** Memory for events of any app, filled in the order in which they are added; as a rule they are also removed in it. */
const slabBytes = 64 * 1024

/** The newest events of one app, encoded by one codec, oldest first: complete from `start` to the newest published. */
export class ReplayBuffer {
  #start: number
  #events: EncodedEvent[] = []
  #dropped = 0

  constructor(start: number) {
    this.#start = start
  }

  /** All events published after this rev are in the buffer. */
  get start(): number {
    return this.#start
  }

  get length(): number {
    return this.#events.length - this.#dropped
  }

  push(event: EncodedEvent): void {
    this.#events.push(event)
  }

  /** Inserts events before the others; they must cover `start` up to the buffer's start so far. */
  prepend(start: number, events: readonly EncodedEvent[]): void {
    this.#events = [...events, ...this.#events.slice(this.#dropped)]
    this.#dropped = 0
    this.#start = start
  }

  /** Removes and returns the oldest event. */
  shift(): EncodedEvent | undefined {
    const event = this.#events[this.#dropped]
    if (event === undefined) return undefined
    this.#start = event.rev
    this.#dropped++
    // Compacting on each removal would cost more than the memory of a few removed events.
    if (this.#dropped > 64 && this.#dropped * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#dropped)
      this.#dropped = 0
    }
    return event
  }

  /** The events after `rev`, which must not be before `start`. */
  *after(rev: number): Iterable<EncodedEvent> {
    let at = this.#events.length
    while (at > this.#dropped && this.#events[at - 1]!.rev > rev) at--
    for (; at < this.#events.length; at++) yield this.#events[at]!
  }
}

/**
 * All replay buffers of this node under one budget: beyond it, the event that was added first is removed, whichever app
 * it belongs to. In memory only; removed events are read from the log. What is added is copied: encoders return parts of
 * pools of 8 KiB which they share with short-lived data, and one small event would keep all of it.
 */
export class ReplayBuffers {
  readonly #limitBytes: number
  readonly #slabBytes: number
  #slab = new Uint8Array(0)
  #used = 0
  /** The memory that events lie in, and how many of them. */
  #memory = new Map<ArrayBufferLike, number>()
  /** One entry for each event, in the order of adding: the buffer whose oldest event is to be removed. */
  #queue: ReplayBuffer[] = []
  #taken = 0
  #events = 0
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
    this.#slabBytes = Math.min(slabBytes, limitBytes >> 4)
  }

  /** All memory that is kept for events, whether it is in use or not. */
  get bytes(): number {
    return this.#bytes
  }

  push(buffer: ReplayBuffer, event: EncodedEvent): void {
    buffer.push(this.#add(buffer, event))
    this.#trim()
  }

  prepend(buffer: ReplayBuffer, start: number, events: readonly EncodedEvent[]): void {
    buffer.prepend(
      start,
      events.map(event => this.#add(buffer, event)),
    )
    this.#trim()
  }

  /** Empties a buffer; later events can be added to it. */
  drop(buffer: ReplayBuffer): void {
    while (this.#shift(buffer));
  }

  #add(buffer: ReplayBuffer, event: EncodedEvent): EncodedEvent {
    const copy = this.#copy(event.bytes)
    const count = this.#memory.get(copy.buffer) ?? 0
    this.#memory.set(copy.buffer, count + 1)
    if (count === 0) this.#bytes += copy.buffer.byteLength
    this.#events++
    this.#bytes += overheadOf(event)
    this.#queue.push(buffer)
    return { ...event, bytes: copy }
  }

  #copy(bytes: Uint8Array): Uint8Array {
    // One that might leave much of a slab unused has memory of its own.
    if (bytes.length * 4 > this.#slabBytes) return new Uint8Array(bytes)
    if (this.#used + bytes.length > this.#slab.length) {
      this.#slab = new Uint8Array(this.#slabBytes)
      this.#used = 0
    }
    const copy = this.#slab.subarray(this.#used, (this.#used += bytes.length))
    copy.set(bytes)
    return copy
  }

  #shift(buffer: ReplayBuffer): boolean {
    const event = buffer.shift()
    if (event === undefined) return false
    this.#events--
    this.#bytes -= overheadOf(event)
    this.#release(event.bytes.buffer)
    return true
  }

  #release(memory: ArrayBufferLike): void {
    const count = this.#memory.get(memory)! - 1
    if (count > 0) return void this.#memory.set(memory, count)
    this.#memory.delete(memory)
    this.#bytes -= memory.byteLength
  }

  #trim(): void {
    while (this.#bytes > this.#limitBytes && this.#taken < this.#queue.length) this.#shift(this.#queue[this.#taken++]!)
    // Entries of emptied buffers do no harm, but must not pile up.
    if (this.#queue.length > 1_024 && this.#queue.length > this.#events * 2) this.#sweep()
  }

  #sweep(): void {
    const left = new Map<ReplayBuffer, number>()
    const kept: ReplayBuffer[] = []
    for (let i = this.#taken; i < this.#queue.length; i++) {
      const buffer = this.#queue[i]!
      const count = left.get(buffer) ?? buffer.length
      if (count > 0) kept.push(buffer)
      left.set(buffer, count - 1)
    }
    this.#queue = kept
    this.#taken = 0
  }
}
