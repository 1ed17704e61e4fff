/** An encoded event. */
export interface EncodedEvent {
  readonly rev: number
  /** The topic under which it was published. */
  readonly topic: string
  readonly bytes: Uint8Array
}

/** The overhead of an entry in bytes. Measured: an object, its view of a buffer, two array slots. */
const entryBytes = 200

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
 * it belongs to. In memory only; removed events are read from the log.
 */
export class ReplayBuffers {
  readonly #limitBytes: number
  /** One entry for each event, in the order of adding: the buffer whose oldest event is to be removed. */
  #queue: ReplayBuffer[] = []
  #taken = 0
  #events = 0
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  push(buffer: ReplayBuffer, event: EncodedEvent): void {
    buffer.push(event)
    this.#add(buffer, event)
    this.#trim()
  }

  prepend(buffer: ReplayBuffer, start: number, events: readonly EncodedEvent[]): void {
    buffer.prepend(start, events)
    for (const event of events) this.#add(buffer, event)
    this.#trim()
  }

  /** Empties a buffer; later events can be added to it. */
  drop(buffer: ReplayBuffer): void {
    while (this.#shift(buffer));
  }

  #add(buffer: ReplayBuffer, event: EncodedEvent): void {
    this.#events++
    this.#bytes += entryBytes + event.bytes.byteLength
    this.#queue.push(buffer)
  }

  #shift(buffer: ReplayBuffer): boolean {
    const event = buffer.shift()
    if (event === undefined) return false
    this.#events--
    this.#bytes -= entryBytes + event.bytes.byteLength
    return true
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
