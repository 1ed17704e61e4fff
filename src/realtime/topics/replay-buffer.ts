/** An encoded event. */
export interface EncodedEvent {
  readonly rev: number
  /** Under which it was published. */
  readonly topic: string
  readonly bytes: Uint8Array
}

/** What an entry takes beside its bytes. Measured: an object, its view on a buffer, two array slots. */
const entryBytes = 200

/** The newest events of one app as one codec encodes them, oldest first: complete after `start`, up to what was fanned out. */
export class ReplayBuffer {
  #start: number
  #events: EncodedEvent[] = []
  #dropped = 0

  constructor(start: number) {
    this.#start = start
  }

  /** Every event published after this rev is here. */
  get start(): number {
    return this.#start
  }

  get length(): number {
    return this.#events.length - this.#dropped
  }

  push(line: EncodedEvent): void {
    this.#events.push(line)
  }

  /** Puts events before the others; they must reach from `start` to where the buffer has begun so far. */
  prepend(start: number, lines: readonly EncodedEvent[]): void {
    this.#events = [...lines, ...this.#events.slice(this.#dropped)]
    this.#dropped = 0
    this.#start = start
  }

  /** Takes the oldest event out. */
  shift(): EncodedEvent | undefined {
    const line = this.#events[this.#dropped]
    if (line === undefined) return undefined
    this.#start = line.rev
    this.#dropped++
    // Moving everything for each one would cost more than the memory of a few that are gone.
    if (this.#dropped > 64 && this.#dropped * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#dropped)
      this.#dropped = 0
    }
    return line
  }

  /** The events after `rev`, which must not be before `start`. */
  *after(rev: number): Iterable<EncodedEvent> {
    let at = this.#events.length
    while (at > this.#dropped && this.#events[at - 1]!.rev > rev) at--
    for (; at < this.#events.length; at++) yield this.#events[at]!
  }
}

/**
 * All replay buffers of this node under one budget: when it is exceeded, the event that was added longest ago goes first,
 * whichever app it belongs to. Only memory; what is not here is read from the log.
 */
export class ReplayBuffers {
  readonly #limitBytes: number
  /** One entry for each event, in order of adding: the buffer whose oldest event goes when it is the entry's turn. */
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

  push(tail: ReplayBuffer, line: EncodedEvent): void {
    tail.push(line)
    this.#add(tail, line)
    this.#trim()
  }

  prepend(tail: ReplayBuffer, start: number, lines: readonly EncodedEvent[]): void {
    tail.prepend(start, lines)
    for (const line of lines) this.#add(tail, line)
    this.#trim()
  }

  /** Empties a buffer: what is published from now on may be added to it. */
  drop(tail: ReplayBuffer): void {
    while (this.#shift(tail));
  }

  #add(tail: ReplayBuffer, line: EncodedEvent): void {
    this.#events++
    this.#bytes += entryBytes + line.bytes.byteLength
    this.#queue.push(tail)
  }

  #shift(tail: ReplayBuffer): boolean {
    const line = tail.shift()
    if (line === undefined) return false
    this.#events--
    this.#bytes -= entryBytes + line.bytes.byteLength
    return true
  }

  #trim(): void {
    while (this.#bytes > this.#limitBytes && this.#taken < this.#queue.length) this.#shift(this.#queue[this.#taken++]!)
    // Entries of buffers that were dropped do no harm, but they must not pile up.
    if (this.#queue.length > 1_024 && this.#queue.length > this.#events * 2) this.#sweep()
  }

  #sweep(): void {
    const left = new Map<ReplayBuffer, number>()
    const kept: ReplayBuffer[] = []
    for (let i = this.#taken; i < this.#queue.length; i++) {
      const tail = this.#queue[i]!
      const count = left.get(tail) ?? tail.length
      if (count > 0) kept.push(tail)
      left.set(tail, count - 1)
    }
    this.#queue = kept
    this.#taken = 0
  }
}
